import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confineInclude, type ReadInclude } from '../../../src/cli/zone/confine-include.ts';
import { makeZoneFolder, type ZoneFolder } from '../../support/zone/zone-folder.ts';

let folder: ZoneFolder;
let read: ReadInclude;

beforeAll(() => {
  folder = makeZoneFolder();
  const at = (name: string) => join(folder.path, name);
  mkdirSync(at('zones'));
  mkdirSync(at('zones/parts'));
  mkdirSync(at('zones-secret'));
  folder.write('outside.inc', 'secret');
  folder.write('zones-secret/outside.inc', 'secret');
  folder.write('zones/main.zone', '');
  folder.write('zones/mail.inc', 'mail');
  folder.write('zones/parts/web.inc', 'web');
  symlinkSync(at('outside.inc'), at('zones/link-out.inc'));
  symlinkSync(folder.path, at('zones/folder-out'));
  symlinkSync(at('zones/mail.inc'), at('zones/link-in.inc'));
  symlinkSync(at('zones/loop.inc'), at('zones/loop.inc'));
  symlinkSync(at('zones'), at('way-in'));
  execFileSync('mkfifo', [at('zones/pipe.inc')]);
  read = confineInclude(at('zones/main.zone'));
});
afterAll(() => folder.remove());

describe('$INCLUDE reads files in the folder of the zone file', () => {
  it.each([
    ['mail.inc', 'mail'],
    ['./parts/../mail.inc', 'mail'],
    ['parts/web.inc', 'web'],
    ['link-in.inc', 'mail'],
  ])('%s', (path, text) => {
    expect(read(path)).toBe(text);
  });

  it('an absolute path into it, even if the zone file is reached by a link to its folder', () => {
    expect(read(join(folder.path, 'zones/mail.inc'))).toBe('mail');
    expect(read(join(folder.path, 'way-in/mail.inc'))).toBe('mail');
    const linked = confineInclude(join(folder.path, 'way-in/main.zone'));
    expect(linked('mail.inc')).toBe('mail');
    expect(linked('../outside.inc')).toHaveProperty('error');
  });
});

describe('$INCLUDE rejects other files', () => {
  it.each([
    ['../outside.inc', 'lies outside'],
    ['../zones-secret/outside.inc', 'lies outside'],
    ['/etc/passwd', 'lies outside'],
    ['link-out.inc', 'lies outside'],
    ['folder-out/outside.inc', 'lies outside'],
    ['missing.inc', 'no such file'],
    ['loop.inc', 'loop of symbolic links'],
    ['parts', 'not a regular file'],
    ['pipe.inc', 'not a regular file'],
    ['.', 'outside'],
    ['mail.inc\0.txt', 'null bytes'],
  ])('%s: %s', (path, message) => {
    expect(read(path)).toEqual({ error: expect.stringContaining(message) });
  });

  it('any file from standard input', () => {
    const fromInput = confineInclude(undefined);
    expect(fromInput('mail.inc')).toEqual({ error: 'standard input has no folder to include from' });
  });
});
