// Directory in which `npm start` keeps its database.

import { join } from 'node:path';
import { rootPlaceOf } from '../../../src/process/run-as.ts';

export function databaseDirectory(dataDirectory: string, isRoot = process.getuid?.() === 0): string {
  return isRoot ? rootPlaceOf(dataDirectory) : join(dataDirectory, 'postgres');
}
