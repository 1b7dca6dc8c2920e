import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SECRET_OF_FILE } from '../../../src/process/settings/every-setting.ts';
import { readSettings, SettingsError } from '../../../src/process/settings/read-settings.ts';
import { openSecretFiles } from '../../../src/process/settings/secret-files.ts';
import type { Reader } from '../../../src/process/settings/setting.ts';

const URL = 'postgres://user:hunter2@host/d';

describe('a secret in a file', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'zf-secrets-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function fileOf(content: string | Buffer): string {
    const file = join(directory, 'secret');
    writeFileSync(file, content);
    return file;
  }

  function faultsOf(env: Record<string, string>, reader?: Reader): readonly string[] {
    try {
      readSettings(env, reader);
    } catch (error) {
      if (error instanceof SettingsError) return error.faults;
      throw error;
    }
    return [];
  }

  it('replaces the variable for every secret setting', () => {
    const file = fileOf('value\n');
    const names = [...SECRET_OF_FILE.values()];
    const env = Object.fromEntries(names.map((name) => [`${name}_FILE`, file]));
    expect(openSecretFiles(env)).toMatchObject({
      env: Object.fromEntries(names.map((name) => [name, 'value'])),
      faults: [],
    });
    expect(names).toContain('KEY_SECRETS');
  });

  it('is read without surrounding white space', () => {
    expect(readSettings({ DATABASE_URL_FILE: ` ${fileOf(`${URL}\r\n`)} ` }).databaseUrl).toBe(URL);
    expect(readSettings({ DATABASE_URL_FILE: fileOf(URL) }).databaseUrl).toBe(URL);
  });

  it('causes no warning about an unknown variable, unless its name is misspelled', () => {
    expect(readSettings({ DATABASE_URL_FILE: fileOf(URL) }).warnings).toEqual([]);
    expect(readSettings({ DATABASE_URL_FIL: 'x' }).warnings[0]).toContain('DATABASE_URL_FILE?');
  });

  it('is rejected if the variable is set too, even to the same value', () => {
    expect(faultsOf({ DATABASE_URL: URL, DATABASE_URL_FILE: fileOf(URL) })).toEqual([
      'DATABASE_URL_FILE: expected only one of DATABASE_URL and DATABASE_URL_FILE to be set',
    ]);
    expect(faultsOf({ DATABASE_URL: '', DATABASE_URL_FILE: fileOf(URL) })).toEqual([]);
    expect(faultsOf({ DATABASE_URL: URL, DATABASE_URL_FILE: '' })).toEqual([]);
  });

  it.each<[string, () => string, RegExp]>([
    ['is missing', () => join(directory, 'none'), /ENOENT/],
    ['is a directory', () => directory, /EISDIR/],
    ['is empty', () => fileOf('\n'), /it is empty/],
    ['is endless', () => '/dev/zero', /larger than 65536 bytes/],
    ['is not text', () => fileOf(Buffer.from([0xff, 0xfe, 0x41])), /not valid/],
  ])('is reported with the setting and the path if the file %s', (_, make, reason) => {
    const path = make();
    const faults = faultsOf({ KEY_SECRETS_FILE: path });
    expect(faults).toEqual([expect.stringContaining(`KEY_SECRETS_FILE: cannot read ${path}: `)]);
    expect(faults[0]).toMatch(reason);
  });

  it('is named by its path, and not repeated, if its value is wrong', () => {
    const file = fileOf('hunter2');
    const [fault] = faultsOf({ KEY_SECRETS_FILE: file });
    expect(fault).toContain(`KEY_SECRETS_FILE: ${file}: expected `);
    expect(fault).not.toContain('hunter2');
  });

  it('is opened only by the processes that read the setting', () => {
    const env = { KEY_SECRETS_FILE: join(directory, 'none'), REGISTRATION: 'on' };
    expect(faultsOf(env, 'API')).toEqual([expect.stringContaining('KEY_SECRETS_FILE')]);
    const mail = { ...env, SMTP_URL_FILE: join(directory, 'none') };
    expect(faultsOf(mail, 'nameserver')).toEqual([]);
    expect(readSettings(mail, 'nameserver').smtpUrl).toBeUndefined();
  });

  it('exists only for secrets: other settings have no _FILE', () => {
    const { dnsListenIsDefault, warnings } = readSettings({ DNS_LISTEN_FILE: fileOf('127.0.0.1:53') });
    expect(dnsListenIsDefault).toBe(true);
    expect(warnings).toEqual([
      'DNS_LISTEN_FILE is not a setting and is ignored: only secrets can be in files',
    ]);
  });
});
