// Writes the OPT record of an answer (RFC 6891). Its size is planned before the sections are written, so that they
// leave space for it.

import {
  DNSSEC_OK,
  EDNS_OPTION,
  OPT_OCTETS,
  PADDING_BLOCK_OCTETS,
  UDP_PAYLOAD_OCTETS,
} from '../../dns/message/edns.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { CLIENT_COOKIE_OCTETS, type Cookies, type CookieVerdict, SERVER_COOKIE_OCTETS } from './cookies.ts';
import type { NameWriter } from './name-writer.ts';
import type { Query } from './read-query.ts';
import { TRANSPORT } from './transports.ts';

/** Maximum size of an answer over UDP, and the payload size that OPT announces. */
export const MAX_UDP_OCTETS = UDP_PAYLOAD_OCTETS;

/** Type and class, which follow the owner. */
const HEAD = (TYPE.OPT << 16) | MAX_UDP_OCTETS;

const OPTION_HEAD_OCTETS = 4;
const COOKIE_OCTETS = OPTION_HEAD_OCTETS + CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS;
const EXTENDED_ERROR_OCTETS = OPTION_HEAD_OCTETS + 2;
const ZONEVERSION_OCTETS = OPTION_HEAD_OCTETS + 6;
const TCP_KEEPALIVE_OCTETS = OPTION_HEAD_OCTETS + 2;
/** Offset of the scope in the option, after family and source prefix length (RFC 7871 §6). */
const SUBNET_SCOPE = 3;
const SOA_SERIAL = 0; // RFC 9660 §5.2

export class OptWriter {
  /** Length of the planned record; 0 if there is none. */
  octets = 0;
  /** The EDE code, or -1 for none. */
  extendedError = -1;
  cookie: CookieVerdict | undefined = undefined;
  /** True if ZONEVERSION is sent, with the number of labels of the apex and the serial of the zone that answered. */
  hasZone = false;
  apexLabels = 0;
  serial = 0;
  /**
   * True if CLIENT-SUBNET is sent. `scope` is the length of the prefix that determined the answer; 0 if the answer is
   * the same for all clients.
   */
  hasSubnet = false;
  scope = 0;
  hasTcpKeepalive = false;
  hasNodeName = false;
  /** True if the answer is padded, as far as it has space. */
  isPadded = false;
  readonly #nodeName: Uint8Array;
  readonly #cookies: Cookies;
  readonly #tcpIdleTimeout: number;

  constructor(nodeName: string, cookies: Cookies, tcpIdleTimeoutMs: number) {
    this.#nodeName = Uint8Array.from(Buffer.from(nodeName));
    this.#cookies = cookies;
    this.#tcpIdleTimeout = Math.min(0xffff, Math.floor(tcpIdleTimeoutMs / 100)); // RFC 7828 §3.1
  }

  /** Decides which options the answer carries. `left` octets are free for the OPT record and the sections. */
  plan(query: Query, left: number): void {
    this.octets = query.edns ? OPT_OCTETS : 0;
    this.hasTcpKeepalive = false;
    this.hasNodeName = false;
    this.isPadded = false;
    if (!query.edns || query.malformed || query.version !== 0) {
      this.cookie = undefined;
      this.extendedError = -1;
      this.hasZone = false;
      this.hasSubnet = false;
      return;
    }
    if (this.cookie !== undefined) this.octets += COOKIE_OCTETS;
    if (this.extendedError >= 0) this.octets += EXTENDED_ERROR_OCTETS;
    this.hasZone = this.hasZone && query.zoneVersion;
    if (this.hasZone) this.octets += ZONEVERSION_OCTETS;
    this.hasSubnet = query.subnetOctets >= 0;
    if (this.hasSubnet) this.octets += OPTION_HEAD_OCTETS + query.subnetOctets;
    const { transport } = query.client;
    // RFC 7828 §3.3.1: ignored over UDP. HTTP has means of its own (RFC 8484 §5.2).
    this.hasTcpKeepalive = query.tcpKeepalive && (transport === TRANSPORT.TCP || transport === TRANSPORT.TLS);
    if (this.hasTcpKeepalive) this.octets += TCP_KEEPALIVE_OCTETS;
    this.isPadded = query.padding && transport >= TRANSPORT.TLS; // padding does not hide anything in clear text
    if (!query.nsid) return;
    // With a long question and a long node name, 512 octets may not suffice. The node name is then omitted.
    const nodeName = OPTION_HEAD_OCTETS + this.#nodeName.length;
    this.hasNodeName = this.octets + nodeName <= left;
    if (this.hasNodeName) this.octets += nodeName;
  }

  /** Writes the planned record. */
  write(to: NameWriter, query: Query, input: DataView, rcode: number, nowSeconds: number): void {
    const { view } = to;
    const at = to.at;
    const padding = this.isPadded ? this.#paddingOctets(to) : 0;
    const options = this.octets + padding - OPT_OCTETS;
    const dnssecOk = query.dnssecOk ? DNSSEC_OK >> 8 : 0; // RFC 3225 §3: copied
    view.setInt32(at, HEAD >> 8); // the owner is the root
    view.setInt32(at + 4, (HEAD << 24) | ((rcode >> 4) << 16) | dnssecOk); // version 0
    view.setUint16(at + 8, options >> 8);
    view.setUint8(at + 10, options);
    to.at = at + OPT_OCTETS;
    if (options === 0) return;
    if (this.cookie !== undefined) this.#writeCookie(to, query, input, nowSeconds);
    if (this.extendedError >= 0) {
      writeHead(to, EDNS_OPTION.EXTENDED_ERROR, 2);
      view.setUint16(to.at, this.extendedError);
      to.at += 2;
    }
    if (this.hasZone) {
      writeHead(to, EDNS_OPTION.ZONEVERSION, 6);
      view.setUint8(to.at, this.apexLabels);
      view.setUint8(to.at + 1, SOA_SERIAL);
      view.setInt32(to.at + 2, this.serial);
      to.at += 6;
    }
    if (this.hasSubnet) {
      // RFC 7871 §7.2.1: family, source prefix length and address as in the query
      writeHead(to, EDNS_OPTION.CLIENT_SUBNET, query.subnetOctets);
      const option = to.at;
      to.copyFrom(input, query.subnetAt, query.subnetOctets);
      view.setUint8(option + SUBNET_SCOPE, this.scope);
    }
    if (this.hasTcpKeepalive) {
      writeHead(to, EDNS_OPTION.TCP_KEEPALIVE, 2);
      view.setUint16(to.at, this.#tcpIdleTimeout);
      to.at += 2;
    }
    if (this.hasNodeName) {
      const name = this.#nodeName;
      writeHead(to, EDNS_OPTION.NSID, name.length);
      for (let i = 0; i < name.length; i++) to.out[to.at++] = name[i] as number;
    }
    if (padding === 0) return;
    writeHead(to, EDNS_OPTION.PADDING, padding - OPTION_HEAD_OCTETS);
    const end = to.at + padding - OPTION_HEAD_OCTETS;
    to.out.fill(0, to.at, end); // RFC 7830 §3
    to.at = end;
  }

  /** Returns the length of the padding option, or 0 if the answer has no space for it. */
  #paddingOctets(to: NameWriter): number {
    const least = to.at - to.base + this.octets + OPTION_HEAD_OCTETS;
    const padded = Math.ceil(least / PADDING_BLOCK_OCTETS) * PADDING_BLOCK_OCTETS;
    const most = Math.min(padded, to.limit - to.base);
    return most < least ? 0 : most - least + OPTION_HEAD_OCTETS;
  }

  /** Writes the client cookie and a server cookie: the received one if it is fresh, otherwise a new one (RFC 9018 §4.3). */
  #writeCookie(to: NameWriter, query: Query, input: DataView, nowSeconds: number): void {
    const octets = CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS;
    writeHead(to, EDNS_OPTION.COOKIE, octets);
    const { cookieAt, client } = query;
    const isFresh = this.cookie === 'fresh';
    to.copyFrom(input, cookieAt, isFresh ? octets : CLIENT_COOKIE_OCTETS);
    if (isFresh) return;
    this.#cookies.sign(input, cookieAt, client, nowSeconds, to.view, to.at);
    to.at += SERVER_COOKIE_OCTETS;
  }
}

function writeHead(to: NameWriter, code: number, octets: number): void {
  to.view.setUint16(to.at, code);
  to.view.setUint16(to.at + 2, octets);
  to.at += OPTION_HEAD_OCTETS;
}
