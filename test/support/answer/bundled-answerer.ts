// The answerer of the tests as JavaScript: in `npm test`, threads are compiled and cannot load TypeScript.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../processes/bundle.ts';

const SOURCE = './test/support/answer/commanded-answerer.ts';
const DIRECTORY = resolve('node_modules/.cache/zonefleet-tests');
const FILE = join(DIRECTORY, 'commanded-answerer.mjs');

mkdirSync(DIRECTORY, { recursive: true });
writeFileSync(`${FILE}.${process.pid}`, bundle(`export { Answerer } from '${SOURCE}';`));
renameSync(`${FILE}.${process.pid}`, FILE);

export const COMMANDED_ANSWERER = pathToFileURL(FILE).href;
