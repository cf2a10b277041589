//! The dozen MPI functions that are used, for three ABIs.
//!
//! Libraries agree on function names, but not on the type of handles. Only the handles named here are passed
//! and no status is read, so no other part of a library's ABI matters.

#![expect(unsafe_code, reason = "calls a library that is loaded at run time")]

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::null_mut;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

use crate::JoinError;

/// Size of the longest text that a library returns: `MPI_MAX_LIBRARY_VERSION_STRING` of MPICH and of the
/// standard ABI; for other libraries it is smaller.
const TEXT_BYTES: usize = 8192;

/// The tag of all messages.
const TAG: c_int = 1;

/// The ABI of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abi {
    /// The standard ABI: MPI 5.0, chapter 20 and appendix A, as in `mpi.h` of the MPI Forum's stubs.
    Standard,
    /// Open MPI and its derivatives.
    OpenMpi,
    /// MPICH and libraries with its ABI: Intel MPI, MVAPICH, Cray MPICH, ParaStation MPI.
    Mpich,
}

/// A request in flight: a handle of the library.
#[derive(Debug, Default)]
pub(crate) struct Request(usize);

/// The error reported by a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MpiError(pub(crate) String);

/// The functions, independent of the type of handles.
pub(crate) trait MpiCalls: Send {
    fn init(&self) -> Result<(), MpiError>;
    fn finalize(&self) -> Result<(), MpiError>;
    fn rank(&self) -> Result<u32, MpiError>;
    fn size(&self) -> Result<u32, MpiError>;
    /// Starts to send `bytes`, which must stay in place until the request is done.
    fn send(&self, bytes: &[u8], to: u32) -> Result<Request, MpiError>;
    /// Starts to receive into `bytes`, which must stay in place until the request is done.
    fn receive(&self, bytes: &mut [u8]) -> Result<Request, MpiError>;
    /// Returns whether the request is done. If so, it is freed.
    fn done(&self, request: &mut Request) -> Result<bool, MpiError>;
    /// Ends all processes of the job.
    fn abort(&self, code: i32);
}

/// A handle: an address or an `int`.
trait Handle: Copy {
    fn to_word(self) -> usize;
    fn of_word(word: usize) -> Self;
}

impl Handle for *mut c_void {
    fn to_word(self) -> usize {
        self as usize
    }

    fn of_word(word: usize) -> Self {
        word as Self
    }
}

impl Handle for c_int {
    #[expect(clippy::cast_sign_loss, reason = "a handle is a bit pattern")]
    fn to_word(self) -> usize {
        self as u32 as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "only such words are made of these handles")]
    fn of_word(word: usize) -> Self {
        word as Self
    }
}

type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
type Text = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;

struct AbiCalls<H> {
    init: Init,
    finalize: unsafe extern "C" fn() -> c_int,
    comm_rank: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    comm_size: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    set_errhandler: unsafe extern "C" fn(H, H) -> c_int,
    isend: unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    irecv: unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    test: unsafe extern "C" fn(*mut H, *mut c_int, *mut c_void) -> c_int,
    abort: unsafe extern "C" fn(H, c_int) -> c_int,
    error_string: unsafe extern "C" fn(c_int, *mut c_char, *mut c_int) -> c_int,
    names: AbiConstants<H>,
    /// Never unloaded: threads of the library may live until the process ends.
    _library: ManuallyDrop<Library>,
}

/// A usable library. It is unloaded on drop unless kept.
pub(crate) struct ProbedLibrary {
    /// Its version text, one line.
    pub(crate) version: String,
    pub(crate) abi: Abi,
    _library: Library,
}

impl ProbedLibrary {
    /// Loads the library permanently. Plug-ins of Open MPI need its symbols in the global scope, but
    /// those of a library that is only probed must not be there.
    pub(crate) fn keep(self, path: &Path) -> Result<LoadedLibrary, JoinError> {
        let failed = |reason| JoinError::Unloadable { library: path.to_owned(), reason };
        // SAFETY: it is loaded already.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }
            .map_err(|error| failed(said(&error)))?;
        let calls = match self.abi {
            Abi::Standard => standard(library),
            Abi::OpenMpi => open_mpi(library),
            Abi::Mpich => mpich(library),
        };
        Ok(LoadedLibrary { calls: calls.map_err(failed)?, version: self.version })
    }
}

/// A permanently loaded library.
pub(crate) struct LoadedLibrary {
    pub(crate) calls: Box<dyn MpiCalls>,
    /// Its version text, one line.
    pub(crate) version: String,
}

/// Loads the library at `path`, or with that name in the loader's search path. Returns `Ok(None)` if
/// there is none.
pub(crate) fn load(path: &Path) -> Result<Option<ProbedLibrary>, JoinError> {
    // SAFETY: loading runs the library's initialisers. It is the site's MPI, which every MPI program of
    // this site loads in the same way.
    let library = match unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) } {
        Ok(library) => library,
        Err(error) => {
            let reason = said(&error);
            // It is normal that a name is not found, but an existing file must be loadable.
            let absent = path.components().count() == 1 || !path.exists();
            return if absent && missing(&reason, path) {
                Ok(None)
            } else {
                Err(JoinError::Unloadable { library: path.to_owned(), reason })
            };
        }
    };
    let Some((abi, version)) = abi_of(&library) else {
        return Err(JoinError::NotMpi { library: path.to_owned() });
    };
    Ok(Some(ProbedLibrary { version, abi, _library: library }))
}

/// Whether the loader reports the library itself as missing, and not a dependency.
fn missing(reason: &str, path: &Path) -> bool {
    reason.contains("cannot open shared object file") && reason.starts_with(&*path.to_string_lossy())
}

/// The loader's message as one line.
fn said(error: &libloading::Error) -> String {
    error.source().map_or_else(|| one_line(&error.to_string()), |loader| one_line(&loader.to_string()))
}

/// ABI and version of the library, determined from its exports and from functions that may be called
/// before initialisation.
fn abi_of(library: &Library) -> Option<(Abi, String)> {
    // SAFETY: both functions may be called before MPI is started, and have had these types since MPI 3.0.
    let version = unsafe {
        let _init = library.get::<Init>(b"MPI_Init_thread\0").ok()?;
        let get = library.get::<Text>(b"MPI_Get_library_version\0").ok()?;
        text(|bytes, length| get(bytes, length))?
    };
    // SAFETY: the type is that of MPI 5.0, 20.3; it may be called before MPI is started. A library of
    // another ABI that has it says -1.
    let standard = unsafe {
        let get =
            library.get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(b"MPI_Abi_get_version\0");
        let (mut major, mut minor) = (-1, -1);
        get.is_ok_and(|get| get(&raw mut major, &raw mut minor) == 0 && major >= 1)
    };
    // SAFETY: only the address is used.
    let open_mpi = unsafe { library.get::<*mut c_void>(b"ompi_mpi_comm_world\0").is_ok() };
    let family = ["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"];
    let abi = if standard {
        Abi::Standard
    } else if open_mpi {
        Abi::OpenMpi
    } else if family.iter().any(|name| version.to_uppercase().contains(&name.to_uppercase())) {
        Abi::Mpich
    } else {
        return None;
    };
    Some((abi, one_line(&version)))
}

/// The text that a function writes into a buffer.
fn text(get: impl Fn(*mut c_char, *mut c_int) -> c_int) -> Option<String> {
    let mut bytes = vec![0u8; TEXT_BYTES + 1];
    let mut length = 0;
    let success = get(bytes.as_mut_ptr().cast(), &raw mut length) == 0;
    let whole = CStr::from_bytes_until_nul(&bytes).ok().filter(|_| success)?;
    Some(whole.to_string_lossy().into_owned())
}

/// The first non-empty line, because some libraries return their whole configuration.
fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Constants that differ between ABIs, in addition to the functions.
struct AbiConstants<H> {
    world: H,
    byte: H,
    errors_return: H,
    any_source: c_int,
    /// `MPI_STATUS_IGNORE`.
    ignore: usize,
    funneled: c_int,
}

/// Values of `mpi.h` of the MPI Forum's stubs for the standard ABI, version 1.0.
fn standard(library: Library) -> Result<Box<dyn MpiCalls>, String> {
    let address = |word: usize| word as *mut c_void;
    let names = AbiConstants {
        world: address(0x101),
        byte: address(0x247),
        errors_return: address(0x142),
        any_source: -1,
        ignore: 0,
        funneled: 1024,
    };
    Ok(Box::new(AbiCalls::new(library, names)?))
}

/// Values of `mpi.h` of Open MPI: predefined handles are objects exported by the library.
fn open_mpi(library: Library) -> Result<Box<dyn MpiCalls>, String> {
    let object = |name: &str| {
        // SAFETY: only the address is taken; it is what the library calls the handle.
        let found = unsafe { library.get::<*mut c_void>(name.as_bytes()) };
        found.map(|symbol| symbol.as_raw_ptr()).map_err(|error| said(&error))
    };
    let names = AbiConstants {
        world: object("ompi_mpi_comm_world")?,
        byte: object("ompi_mpi_byte")?,
        errors_return: object("ompi_mpi_errors_return")?,
        any_source: -1,
        ignore: 0,
        funneled: 1,
    };
    Ok(Box::new(AbiCalls::new(library, names)?))
}

/// Values of `mpi.h` of MPICH, kept stable by its ABI initiative.
fn mpich(library: Library) -> Result<Box<dyn MpiCalls>, String> {
    let names = AbiConstants::<c_int> {
        world: 0x4400_0000,
        byte: 0x4c00_010d,
        errors_return: 0x5400_0001,
        any_source: -2,
        ignore: 1,
        funneled: 1,
    };
    Ok(Box::new(AbiCalls::new(library, names)?))
}

// SAFETY: the handles of the library may be used from any thread, one at a time, and it is handed from
// one thread to another only before it is started.
unsafe impl<H> Send for AbiCalls<H> {}

impl<H: Handle> AbiCalls<H> {
    fn new(library: Library, names: AbiConstants<H>) -> Result<Self, String> {
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the field has the type that MPI 3.0 and all later versions give this function, with
                // handles as this library has them.
                *unsafe { library.get($name) }.map_err(|error| said(&error))?
            };
        }
        Ok(Self {
            init: function!(b"MPI_Init_thread\0"),
            finalize: function!(b"MPI_Finalize\0"),
            comm_rank: function!(b"MPI_Comm_rank\0"),
            comm_size: function!(b"MPI_Comm_size\0"),
            set_errhandler: function!(b"MPI_Comm_set_errhandler\0"),
            isend: function!(b"MPI_Isend\0"),
            irecv: function!(b"MPI_Irecv\0"),
            test: function!(b"MPI_Test\0"),
            abort: function!(b"MPI_Abort\0"),
            error_string: function!(b"MPI_Error_string\0"),
            names,
            _library: ManuallyDrop::new(library),
        })
    }

    /// Converts an error code, with the library's text for it.
    fn check(&self, code: c_int) -> Result<(), MpiError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the room is larger than the longest text of any library.
        let said = text(|bytes, length| unsafe { (self.error_string)(code, bytes, length) });
        Err(MpiError(said.map_or_else(|| format!("MPI error {code}"), |said| one_line(&said))))
    }

    fn number(&self, get: unsafe extern "C" fn(H, *mut c_int) -> c_int) -> Result<u32, MpiError> {
        let mut number = 0;
        // SAFETY: the handle is the library's own and the number has room.
        self.check(unsafe { get(self.names.world, &raw mut number) })?;
        u32::try_from(number).map_err(|_| MpiError(format!("MPI counts ranks as {number}")))
    }
}

impl<H: Handle> MpiCalls for AbiCalls<H> {
    fn init(&self) -> Result<(), MpiError> {
        let mut provided = 0;
        // SAFETY: no arguments are passed, which MPI 2.0 and later allow.
        let code = unsafe { (self.init)(null_mut(), null_mut(), self.names.funneled, &raw mut provided) };
        self.check(code)?;
        // SAFETY: both handles are the library's own. From here on calls return what went wrong.
        self.check(unsafe { (self.set_errhandler)(self.names.world, self.names.errors_return) })
    }

    fn finalize(&self) -> Result<(), MpiError> {
        // SAFETY: no request is in flight any more.
        self.check(unsafe { (self.finalize)() })
    }

    fn rank(&self) -> Result<u32, MpiError> {
        self.number(self.comm_rank)
    }

    fn size(&self) -> Result<u32, MpiError> {
        self.number(self.comm_size)
    }

    fn send(&self, bytes: &[u8], to: u32) -> Result<Request, MpiError> {
        let mut request = H::of_word(0);
        let (length, to) = (int(bytes.len()), int(to));
        let (names, start) = (&self.names, bytes.as_ptr().cast());
        // SAFETY: the caller keeps the bytes until the request is done.
        let code = unsafe { (self.isend)(start, length, names.byte, to, TAG, names.world, &raw mut request) };
        self.check(code).map(|()| Request(request.to_word()))
    }

    fn receive(&self, bytes: &mut [u8]) -> Result<Request, MpiError> {
        let mut request = H::of_word(0);
        let (names, length) = (&self.names, int(bytes.len()));
        let (start, from) = (bytes.as_mut_ptr().cast(), names.any_source);
        // SAFETY: the caller keeps the bytes, and does not look at them, until the request is done.
        let code =
            unsafe { (self.irecv)(start, length, names.byte, from, TAG, names.world, &raw mut request) };
        self.check(code).map(|()| Request(request.to_word()))
    }

    fn done(&self, request: &mut Request) -> Result<bool, MpiError> {
        let (mut handle, mut flag) = (H::of_word(request.0), 0);
        let ignore = self.names.ignore as *mut c_void;
        // SAFETY: the handle came from a call above and was not done before.
        let code = unsafe { (self.test)(&raw mut handle, &raw mut flag, ignore) };
        request.0 = handle.to_word();
        self.check(code).map(|()| flag != 0)
    }

    fn abort(&self, code: i32) {
        // SAFETY: the handle is the library's own.
        let _ = unsafe { (self.abort)(self.names.world, code) };
    }
}

/// Converts a number that is known to fit.
fn int<Number>(number: Number) -> c_int
where
    c_int: TryFrom<Number>,
{
    c_int::try_from(number).unwrap_or(c_int::MAX)
}

/// Ends this process at once, without the library's exit handlers, which might wait for lost ranks.
pub(crate) fn end_now(code: i32) -> ! {
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(code) }
}
