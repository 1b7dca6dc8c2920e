// In place of the thread of the image: begins to read a snapshot and never comes back.

import { workerData } from 'node:worker_threads';
import { ImageProgress } from '../../src/nameserver/image-progress.ts';
import { noteRestoring } from '../../src/nameserver/restore-note.ts';

const { progress, snapshotDirectory } = workerData;
new ImageProgress(progress).begin('reading the snapshot');
noteRestoring(snapshotDirectory, 1);
for (;;);
