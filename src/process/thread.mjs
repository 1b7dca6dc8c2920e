// What a thread runs first: Node 20 does not hand a loader of TypeScript on to threads, so each registers it by itself.

import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
