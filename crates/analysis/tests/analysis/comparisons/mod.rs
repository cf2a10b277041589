//! Figures beside others: of another run, another tool, a publication, a commitment.

mod against_itself;
mod agreement;
mod beside;
mod claims;
mod commitments;
mod compare;
mod cross_check;
mod limits;
mod percentile_promises;
mod published;
mod quantities;
mod similar;
