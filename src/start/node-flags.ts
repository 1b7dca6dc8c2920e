// How Node.js runs the processes of a fleet: with little memory. The packages have the flags in the first line of
// deploy/package/debian/zonefleet, and the variables in the units and the image.

/**
 * MiB that each half of the main thread's young generation may have. With V8's default of 16, a process with a small
 * load takes hours to reach its largest size. Threads have a size of their own (process/start-thread.ts).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=2'];

/** By default, the C library keeps freed memory for each thread separately. */
export const NODE_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '2' };
