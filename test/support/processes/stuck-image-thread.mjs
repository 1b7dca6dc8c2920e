// In place of the thread of the image: begins to read a snapshot and never comes back.

import { workerData } from 'node:worker_threads';
import { noteRestoring } from '../../../src/nameserver/snapshot/restore-note.ts';
import { ImageProgress } from '../../../src/nameserver/threads/image-progress.ts';

const { progress, snapshotDirectory } = workerData;
new ImageProgress(progress).begin('reading the snapshot');
noteRestoring(snapshotDirectory, 1);
for (;;);
