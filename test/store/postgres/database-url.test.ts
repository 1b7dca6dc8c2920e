import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findAnalyticsUrl,
  findDatabaseUrl,
  findPublicUrl,
  publishDatabaseUrl,
  withdrawDatabaseUrl,
} from '../../../src/store/postgres/database-url.ts';

const URL_OF_IT = 'postgresql://zonefleet@/zonefleet?host=%2Fsomewhere';
let directory: string;
let socket: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-url-'));
  socket = join(directory, 'run');
  mkdirSync(socket);
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('the URL of the embedded database', () => {
  it('is found while its npm start runs, and not after it has stopped', () => {
    expect(findDatabaseUrl(directory)).toBeUndefined();
    publishDatabaseUrl(directory, URL_OF_IT, socket);
    expect(findDatabaseUrl(directory)).toBe(URL_OF_IT);
    expect(findAnalyticsUrl(directory)).toBeUndefined();
    expect(findPublicUrl(directory)).toBeUndefined();
    publishDatabaseUrl(directory, URL_OF_IT, socket, {
      analyticsUrl: 'http://store',
      publicUrl: 'http://127.0.0.1:9000',
    });
    expect([findDatabaseUrl(directory), findAnalyticsUrl(directory), findPublicUrl(directory)]).toEqual([
      URL_OF_IT,
      'http://store',
      'http://127.0.0.1:9000',
    ]);
    withdrawDatabaseUrl(directory);
    expect(findDatabaseUrl(directory)).toBeUndefined();
    expect(findAnalyticsUrl(directory)).toBeUndefined();
    expect(readdirSync(directory)).toEqual(['run']);
  });

  it('is not found if its npm start was killed, its socket is missing, or the file is invalid', () => {
    publishDatabaseUrl(directory, URL_OF_IT, socket);
    const file = join(directory, 'npm-start.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), pid: 4194305 }));
    expect(findDatabaseUrl(directory)).toBeUndefined();
    writeFileSync(join(directory, 'npm-start.json'), 'null');
    expect(findDatabaseUrl(directory)).toBeUndefined();
    publishDatabaseUrl(directory, URL_OF_IT, socket);
    rmSync(socket, { recursive: true });
    expect(findDatabaseUrl(directory)).toBeUndefined();
  });

  it('is published even if the directory does not exist yet', () => {
    publishDatabaseUrl(join(directory, 'new'), URL_OF_IT, socket);
    expect(findDatabaseUrl(join(directory, 'new'))).toBe(URL_OF_IT);
  });
});
