// Checks an image that was read from a snapshot, while other threads answer from it and none writes to it.

import { parentPort, workerData } from 'node:worker_threads';
import { findImageFault } from '../image/check/check-image.ts';
import { Image } from '../image/image.ts';
import { ImageProgress } from '../threads/image-progress.ts';
import type { CheckThreadOptions, FromCheckThread } from './start-check-thread.ts';

const { buffer, free, progress } = workerData as CheckThreadOptions;
const fault = findImageFault(new Image(buffer), free, new ImageProgress(progress).step);
parentPort?.postMessage({ fault } satisfies FromCheckThread);
