// The certificate and key files of a TLS server. Loads them, and loads them again when they change.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Log } from './reconnect.ts';
import { mayRead, type ProcessUser } from './run-as.ts';
import { StartFault } from './start-fault.ts';

/** A certificate chain and its key, in PEM format. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

interface TlsFilesOptions {
  /** The settings are `${prefix}_CERT` and `${prefix}_KEY`. */
  readonly prefix: string;
  /** Paths. Undefined if the setting is not set. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The user that the process switches to after the start. */
  readonly user?: ProcessUser | undefined;
  readonly log: Log;
}

type Paths = Pick<TlsFilesOptions, 'prefix'> & TlsPair;

interface Loaded {
  readonly pair: TlsPair;
  readonly expiresAtMs: number;
}

const RELOAD_MS = 60_000;

/** Loads the files. Returns undefined if none is set. Throws StartFault if they cannot be used. */
export async function openTlsFiles(options: TlsFilesOptions): Promise<TlsFiles | undefined> {
  const { prefix, cert, key, user, log } = options;
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new StartFault(`${prefix}_CERT and ${prefix}_KEY: set both, or none`);
  const paths = { prefix, cert, key };
  const loaded = await load(paths).catch((error: Error) => {
    throw new StartFault(error.message);
  });
  const unreadable = user && [cert, key].find((file) => !mayRead(file, user));
  if (unreadable !== undefined)
    log.warn(
      { file: unreadable, ...user },
      `${prefix}_CERT: the user of this process cannot read a file, so the certificate will not be reloaded; restart after a renewal`,
    );
  return new TlsFiles(paths, loaded, unreadable === undefined, log);
}

export class TlsFiles {
  /** Number of failed attempts to load changed files. */
  failures = 0;
  readonly #paths: Paths;
  readonly #isReadable: boolean;
  readonly #log: Log;
  #current: Loaded;
  #renew: (pair: TlsPair) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(paths: Paths, loaded: Loaded, isReadable: boolean, log: Log) {
    this.#paths = paths;
    this.#current = loaded;
    this.#isReadable = isReadable;
    this.#log = log;
    this.#warnIfExpired();
  }

  get pair(): TlsPair {
    return this.#current.pair;
  }

  /** The time at which the certificate expires. */
  get expiresAtMs(): number {
    return this.#current.expiresAtMs;
  }

  /** Calls `renew` with the new pair whenever the files have changed. */
  watch(renew: (pair: TlsPair) => void): void {
    this.#renew = renew;
    if (this.#isReadable) this.#timer = setInterval(() => void this.reload(), RELOAD_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Keeps the current pair if the files cannot be used. */
  async reload(): Promise<void> {
    const { prefix } = this.#paths;
    try {
      const loaded = await load(this.#paths);
      if (loaded.pair.cert === this.pair.cert && loaded.pair.key === this.pair.key) return;
      this.#renew(loaded.pair);
      this.#current = loaded;
      this.#log.info({}, `${prefix}_CERT: loaded the renewed certificate`);
      this.#warnIfExpired();
    } catch (error) {
      this.failures++;
      this.#log.error(
        { reason: (error as Error).message },
        `${prefix}_CERT cannot be reloaded: the previous certificate stays in use`,
      );
    }
  }

  /** An expired certificate is used: some clients do not check it, and other transports must not fail because of it. */
  #warnIfExpired(): void {
    if (this.expiresAtMs > Date.now()) return;
    const at = new Date(this.expiresAtMs).toISOString();
    this.#log.warn({ at }, `${this.#paths.prefix}_CERT: the certificate has expired`);
  }
}

/** Throws an error that names the setting and the file. */
async function load({ prefix, cert, key }: Paths): Promise<Loaded> {
  const explained = <T>(setting: string, explain: (reason: string) => string, run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw new Error(`${prefix}_${setting}: ${explain((error as Error).message)}`);
    }
  };
  const read = (setting: string, file: string) =>
    readFile(file, 'utf8').catch((error: Error) => {
      throw new Error(`${prefix}_${setting}: ${error.message}`);
    });
  const pair = { cert: await read('CERT', cert), key: await read('KEY', key) };
  const isNot = (file: string, what: string) => (reason: string) =>
    `${file} is not ${what} in PEM format (${reason})`;
  const certificate = explained('CERT', isNot(cert, 'a certificate'), () => new X509Certificate(pair.cert));
  const privateKey = explained('KEY', isNot(key, 'an unencrypted private key'), () =>
    createPrivateKey(pair.key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new Error(`${prefix}_KEY: the key in ${key} does not match the certificate in ${cert}`);
  explained(
    'CERT',
    (reason) => `${cert} cannot be used (${reason})`,
    () => createSecureContext(pair),
  );
  return { pair, expiresAtMs: Date.parse(certificate.validTo) };
}
