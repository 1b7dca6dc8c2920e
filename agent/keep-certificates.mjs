// @ts-check
// Stores certificates and keys as files that only this user can read. Unused files are removed.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './kept-configs.mjs';

/** @typedef {import('../src/edge/edge-config.ts').EdgeCertificate} EdgeCertificate */

export class KeptCertificates {
  /** @type {Map<number, string>} */
  #names = new Map();

  /** @param {string} state @param {(id: number) => Promise<{ certificate: string, private_key: string }>} read */
  constructor(state, read) {
    this.folder = join(state, 'certificates');
    this.read = read;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  /** @param {number} id */
  filesOf(id) {
    const name = this.#names.get(id);
    return name === undefined
      ? undefined
      : { chain: join(this.folder, `${name}.pem`), key: join(this.folder, `${name}.key`) };
  }

  /** @param {EdgeCertificate} certificate */
  async ensure({ id, sha256 }) {
    if (!Number.isSafeInteger(id) || !/^[0-9a-f]{64}$/.test(sha256))
      throw new Error('the config has a certificate without a fingerprint');
    const name = `${id}-${sha256.slice(0, 16)}`;
    const [chain, key] = [join(this.folder, `${name}.pem`), join(this.folder, `${name}.key`)];
    if (!existsSync(chain) || !existsSync(key)) {
      const { certificate, private_key } = await this.read(id);
      const leaf = new X509Certificate(certificate);
      if (leaf.fingerprint256.replaceAll(':', '').toLowerCase() !== sha256)
        throw new Error(`certificate ${id} does not match its fingerprint`);
      if (!leaf.checkPrivateKey(createPrivateKey(private_key)))
        throw new Error(`the key of certificate ${id} does not match`);
      writeWhole(key, private_key);
      writeWhole(chain, certificate);
    }
    this.#names.set(id, name);
  }

  /** @param {(name: string) => boolean} isUsed */
  removeUnused(isUsed) {
    for (const file of readdirSync(this.folder)) {
      if (isUsed(file.replace(/\.(pem|key)(\.new)?$/, ''))) continue;
      rmSync(join(this.folder, file), { force: true });
      for (const [id, name] of this.#names) if (file.startsWith(`${name}.`)) this.#names.delete(id);
    }
  }
}
