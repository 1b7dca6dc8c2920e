// Which certificate a TLS client is shown: the newest of the domain that covers the name, its key read when first needed.

import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { EdgeCertificate, EdgeConfig } from '../../../../src/edge/edge-config.ts';

export interface CertificateKeys {
  /** PEM, the leaf first. */
  readonly certificate: string;
  readonly privateKey: string;
}

export class Certificates {
  readonly #load: (id: number) => Promise<CertificateKeys>;
  readonly #contexts = new Map<string, Promise<SecureContext>>();

  constructor(load: (id: number) => Promise<CertificateKeys>) {
    this.#load = load;
  }

  /** Undefined: there is none, and the handshake fails. */
  contextFor(config: EdgeConfig, host: string): Promise<SecureContext> | undefined {
    const found = config.certificates
      .filter(({ names }) => names.some((name) => covers(name, host)))
      .sort((a, b) => Date.parse(b.not_after) - Date.parse(a.not_after))[0];
    if (found === undefined) return undefined;
    const known = this.#contexts.get(found.sha256);
    if (known !== undefined) return known;
    const made = this.#contextOf(found);
    this.#contexts.set(found.sha256, made);
    made.catch(() => this.#contexts.delete(found.sha256));
    return made;
  }

  async #contextOf({ id, sha256 }: EdgeCertificate): Promise<SecureContext> {
    const { certificate, privateKey } = await this.#load(id);
    const read = new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase();
    if (read !== sha256.toLowerCase()) throw new Error(`certificate ${id} is not the one that was told`);
    return createSecureContext({ cert: certificate, key: privateKey });
  }
}

/** A wildcard covers one label (RFC 9525 §6.3). */
export function covers(name: string, host: string): boolean {
  return (
    name === host ||
    (name.startsWith('*.') && host.slice(host.indexOf('.') + 1) === name.slice(2) && host.includes('.'))
  );
}
