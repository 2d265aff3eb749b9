//! Memory that the allocator keeps when it is given back to it.

/// Fixes from which size on a block goes back to the system when it is freed. Left alone, the allocator of glibc raises that
/// bound to the largest block that was freed, up to 32 MiB, and keeps twice as much in each arena, of which there are eight
/// for each core: a crawl of large pages kept as much as it had reserved.
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
        // Refused only where a value is out of range: then all is as it would be without.
        mallopt(M_MMAP_THRESHOLD, 1 << 20);
        mallopt(M_TRIM_THRESHOLD, 4 << 20);
    }
}
