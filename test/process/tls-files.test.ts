import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTlsFiles, type TlsFiles } from '../../src/process/tls-files.ts';
import { type Issued, makeCertificate } from '../support/certificates/make-certificate.ts';

let directory: string;
let pairs: Issued[];
let logged: string[] = [];
const at = (name: string) => join(directory, name);
const log = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [
    level,
    (_: object, message: string) => logged.push(`${level}: ${message}`),
  ]),
) as unknown as Parameters<typeof openTlsFiles>[0]['log'];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-tls-files-'));
  const expired = { notBefore: new Date('2026-01-01'), notAfter: new Date('2026-02-01') };
  pairs = await Promise.all([
    makeCertificate({ names: ['one.example'] }),
    makeCertificate({ names: ['two.example'], notAfter: new Date('2099-01-01') }),
    makeCertificate({ names: ['old.example'], ...expired }),
  ]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(() => {
  logged = [];
  write(0);
});

function write(pair: number, key = pair): void {
  writeFileSync(at('cert'), pairs[pair]!.pem);
  writeFileSync(at('key'), pairs[key]!.key);
}

const open = (given: Partial<Parameters<typeof openTlsFiles>[0]> = {}) =>
  openTlsFiles({ prefix: 'DNS_TLS', cert: at('cert'), key: at('key'), log, ...given });

describe('certificate files', () => {
  it('are not required', async () => {
    expect(await open({ cert: undefined, key: undefined })).toBeUndefined();
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ['one of two', () => open({ key: undefined }), /^DNS_TLS_CERT and DNS_TLS_KEY: set both, or none$/],
    ['a missing file', () => open({ key: at('none') }), /^DNS_TLS_KEY: ENOENT: .* '.*none'$/],
    ['a directory', () => open({ cert: directory }), /^DNS_TLS_CERT: EISDIR/],
    ['no certificate', () => open({ cert: at('key') }), /^DNS_TLS_CERT: .*key is not a certificate in PEM/],
    ['no key', () => open({ key: at('cert') }), /^DNS_TLS_KEY: .*cert is not an unencrypted private key in/],
    [
      'the key of another certificate',
      () => {
        write(0, 1);
        return open();
      },
      /^DNS_TLS_KEY: the key in .*key does not match the certificate in .*cert$/,
    ],
  ])('stop the start with the setting and the file: %s', async (_, opened, message) => {
    await expect(opened()).rejects.toThrow(message);
    await expect(opened()).rejects.toMatchObject({ name: 'StartFault' });
  });

  it('are used with a warning if the certificate has expired', async () => {
    write(2);
    expect((await open())?.pair.cert).toBe(pairs[2]!.pem);
    expect(logged).toEqual(['warn: DNS_TLS_CERT: the certificate has expired']);
  });

  it('cause a warning if the user of the process cannot read them', async () => {
    writeFileSync(at('secret'), pairs[0]!.key, { mode: 0o600 });
    const user = { uid: 60_953, gid: 60_953 };
    expect(await open({ key: at('secret'), user })).toBeDefined();
    expect(logged).toEqual([
      'warn: DNS_TLS_CERT: the user of this process cannot read a file, so the certificate will not be reloaded; restart after a renewal',
    ]);
  });
});

describe('a reload', () => {
  it('uses changed files, and keeps the current pair if they cannot be used', async () => {
    const files = (await open()) as TlsFiles;
    const renewed: string[] = [];
    files.watch(({ cert }) => renewed.push(cert));
    await files.reload();
    expect([renewed, logged]).toEqual([[], []]);
    write(1, 0);
    await files.reload();
    expect([renewed, files.failures, files.pair.cert]).toEqual([[], 1, pairs[0]!.pem]);
    write(1);
    await files.reload();
    expect([renewed, files.failures, files.pair.key]).toEqual([[pairs[1]!.pem], 1, pairs[1]!.key]);
    files.close();
    expect(files.expiresAtMs).toBe(Date.parse('2099-01-01'));
    expect(logged).toEqual([
      'error: DNS_TLS_CERT cannot be reloaded: the previous certificate stays in use',
      'info: DNS_TLS_CERT: loaded the renewed certificate',
    ]);
  });
});
