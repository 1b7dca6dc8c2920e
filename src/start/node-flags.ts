// The flags of Node.js for the processes of a fleet. The Debian package and the image have them in the first line of
// deploy/package/debian/zonefleet.

/**
 * MiB that each half of the main thread's young generation may have. With V8's default of 16, a process with a small
 * load takes hours to reach its largest size. Threads have a limit of their own (process/start-thread.ts).
 */
export const NODE_FLAGS: readonly string[] = ['--max-semi-space-size=4'];
