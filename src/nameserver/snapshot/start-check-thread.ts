// Starts the thread that checks a restored image.

import { startThread } from '../../process/start-thread.ts';

export interface CheckThreadOptions {
  /** The image. It must not be written to until the thread has ended. */
  readonly buffer: SharedArrayBuffer;
  /** The result of `exportFree`. */
  readonly free: Int32Array;
  /** The memory of ImageProgress. */
  readonly progress: SharedArrayBuffer;
}

export interface FromCheckThread {
  /** Undefined if the image is valid. */
  readonly fault: string | undefined;
}

/** Resolves with the reason why the image must not be served, or undefined. Rejects if the check ended without a result. */
export async function checkInThread(options: CheckThreadOptions): Promise<string | undefined> {
  const thread = startThread('check', new URL('./check-thread.ts', import.meta.url), options);
  const { fault } = await new Promise<FromCheckThread>((done, fail) => {
    thread.once('message', done);
    thread.once('error', fail);
    thread.once('exit', (code) => fail(new Error(`the check of the snapshot ended with exit code ${code}`)));
  });
  return fault;
}
