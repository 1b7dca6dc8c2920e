// Opens a TLS connection to a primary and verifies the server (RFC 9103 §7, RFC 8310 §5).

import { createHash, type X509Certificate } from 'node:crypto';
import type { TcpNetConnectOpts } from 'node:net';
import { checkServerIdentity, connect, type PeerCertificate, type TLSSocket } from 'node:tls';

/** How a primary is reached over TLS. */
export interface PrimaryTls {
  /** If false, nothing is verified, and TCP is used if there is no TLS connection. */
  readonly isStrict: boolean;
  readonly port: number;
  /** The name that a trusted certificate must have. Undefined if only pins are verified. */
  readonly name: string | undefined;
  /** SHA-256 of the SubjectPublicKeyInfo of keys, of which the server must have one. If empty, any key is accepted. */
  readonly pins: readonly Uint8Array[];
}

/**
 * Offers the protocol `dot` (RFC 9103 §7.1). A server that does not know ALPN, such as NSD 4.6, selects no protocol, which
 * is accepted. Certificates are verified with the authorities of Node.js and those of NODE_EXTRA_CA_CERTS.
 */
export function connectTls(where: TcpNetConnectOpts, { isStrict, name }: PrimaryTls): TLSSocket {
  return connect({
    ...where,
    ...(name !== undefined && { servername: name }),
    ALPNProtocols: ['dot'],
    minVersion: 'TLSv1.3', // RFC 9103 §7.2
    rejectUnauthorized: isStrict && name !== undefined,
    checkServerIdentity: (host, certificate) =>
      // RFC 8310 §8.1: the subject is not inspected, only subjectAltName.
      checkServerIdentity(host, { ...certificate, subject: undefined } as unknown as PeerCertificate),
  });
}

/** Returns why a connected server does not match the pins, as a predicate. Returns undefined if it does. */
export function pinFault(socket: TLSSocket, { pins }: PrimaryTls): string | undefined {
  if (pins.length === 0) return undefined;
  // Only the server's own certificate counts: others can be sent by any server, because a chain is not verified.
  const certificate = socket.getPeerX509Certificate();
  const pin = certificate === undefined ? undefined : pinOf(certificate);
  if (pin !== undefined && pins.some((each) => pin.equals(each))) return undefined;
  return `has a key with another pin: ${pin?.toString('base64')}`;
}

function pinOf({ publicKey }: X509Certificate): Buffer {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

/** The server determines the length of a text that lists its names. */
const MAX_ERROR_CHARACTERS = 300;

/** Describes an error of the handshake or of the verification of the certificate. Returns undefined for other errors. */
export function tlsErrorText(error: Error): string | undefined {
  return (error as { reason?: string }).reason?.slice(0, MAX_ERROR_CHARACTERS);
}
