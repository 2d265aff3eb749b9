//! Settings of the allocator for freed memory.

/// Fixes the minimum size of freed blocks that go back to the system at once. By default, glibc raises this threshold
/// to the largest freed block, up to 32 MiB. Each arena then retains twice the threshold, and there are eight arenas
/// per core, so that a crawl of large pages retained as much memory as it had reserved.
pub(crate) fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;

        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_THRESHOLD: c_int = -3;
        #[expect(
            unsafe_code,
            reason = "a function of the C library that any two numbers may be given to"
        )]
        unsafe extern "C" {
            safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // `mallopt` fails only if a value is out of range. The default behaviour then stays.
        mallopt(M_MMAP_THRESHOLD, 1 << 20);
        mallopt(M_TRIM_THRESHOLD, 4 << 20);
    }
}
