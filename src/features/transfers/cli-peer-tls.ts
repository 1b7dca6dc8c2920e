// The options of `peer add` and `peer set` for transfers over TLS, and how they are listed.

import { Failure } from '../../cli/terminal/failure.ts';
import type { Told } from '../../store/audit/tell-audit.ts';
import {
  DNS_OVER_TLS_PORT,
  PEER_TLS_MODES,
  type PeerTls,
  WITHOUT_TLS,
} from '../../store/transfers/peer-tls.ts';
import { isPeerPort, readPin, readTlsName, WRONG_PIN, WRONG_PORT } from './rules.ts';

const MOST_PINS = 4;

export interface TlsOptions {
  readonly tls?: string;
  readonly tlsName?: string;
  readonly tlsPin?: readonly string[];
  readonly tlsPort?: string;
}

export function tlsOf({ tls = 'off', tlsName, tlsPin = [], tlsPort }: TlsOptions): PeerTls {
  const mode = PEER_TLS_MODES.find((each) => each === tls);
  if (mode === undefined)
    throw new Failure('usage', `--tls: expected ${PEER_TLS_MODES.join(', ')}, not "${tls}"`);
  if (mode !== 'strict' && tlsName !== undefined)
    throw new Failure('usage', '--tls-name: a name is verified only with --tls strict');
  if (mode !== 'strict' && tlsPin.length > 0)
    throw new Failure('usage', '--tls-pin: a pin is verified only with --tls strict');
  if (mode === 'off' && tlsPort !== undefined)
    throw new Failure('usage', '--tls-port: expected --tls opportunistic or --tls strict');
  if (tlsPin.length > MOST_PINS)
    throw new Failure('usage', `--tls-pin: a peer has at most ${MOST_PINS} pins`);
  if (mode === 'off') return WITHOUT_TLS;
  return { mode, port: portOf(tlsPort), name: nameOf(tlsName), pins: tlsPin.map(pinOf) };
}

function portOf(text: string | undefined): number {
  if (text === undefined) return DNS_OVER_TLS_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (isPeerPort(port) && port <= 65_535) return port;
  throw new Failure('usage', `--tls-port: "${text}": ${WRONG_PORT}`);
}

function nameOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const name = readTlsName(text);
  if (name === undefined) throw new Failure('usage', `--tls-name: "${text}" is not the name of a host`);
  return name;
}

function pinOf(text: string): Uint8Array {
  const pin = readPin(text);
  if (pin === undefined) throw new Failure('usage', `--tls-pin: "${text}": ${WRONG_PIN}`);
  return pin;
}

/** Describes the settings in a column of a table. */
export function printTls({ mode, port, name, pins }: PeerTls): string {
  if (mode === 'off') return '-';
  return [
    mode,
    ...(name === null ? [] : [name]),
    ...(pins.length === 0 ? [] : [`${pins.length} ${pins.length === 1 ? 'pin' : 'pins'}`]),
    ...(port === DNS_OVER_TLS_PORT ? [] : [`port ${port}`]),
  ].join(' ');
}

/** Returns the settings as JSON and the audit log have them. */
export function tlsFields({ mode, port, name, pins }: PeerTls): Told {
  return {
    tls: mode,
    tls_port: port,
    tls_name: name,
    tls_pins: pins.map((pin) => Buffer.from(pin).toString('base64')),
  };
}
