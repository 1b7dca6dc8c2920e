// Prepares a thread. Node 20 does not pass a loader of TypeScript on to threads, so each thread registers it.

import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
