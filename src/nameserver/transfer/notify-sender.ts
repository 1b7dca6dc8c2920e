// Sends NOTIFY (RFC 1996) to the peers of changed zones, and reports their answers. A peer is one server: its first
// address is used until it ignores three messages in a row, then the next one, and so on in a circle.

import { randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { SocketAddress } from 'node:net';
import { HEADER_OCTETS, OPCODE } from '../../dns/message/header.ts';
import { FLAG } from '../../dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { readTsig, signMessage, type TsigKey, tsigErrorName } from '../../dns/message/tsig.ts';
import { TsigStreamVerifier } from '../../dns/message/tsig-stream.ts';
import { encodeName, printName } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { ListenAddress } from '../../process/listen-address.ts';
import type { Log } from '../../process/reconnect.ts';
import type { EncodedZones, ZoneVersion } from './encoding/encoded-zones.ts';
import type { ChangedZone, TransferState } from './messages.ts';
import { NotifyQueue, type Unanswered } from './notify-queue.ts';
import type { TransferReports } from './transfer-reports.ts';

/** A server that is notified. */
export interface NotifiedPeer {
  readonly id: number;
  /** Undefined for a peer of a domain. */
  readonly name: string | undefined;
  /** At least one. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Undefined if the peer has no key. A peer whose key cannot be used must not be notified. */
  readonly key: TsigKey | undefined;
}

interface NotifyOptions {
  /** Returns the peers of the zone that are notified. */
  readonly peersOf: (zoneId: number) => readonly NotifiedPeer[];
  readonly zones: Pick<EncodedZones, 'find'>;
  readonly reports: TransferReports;
  /** NOTIFY messages per second to each peer. */
  readonly rate: number;
  /** The setting NOTIFY_SOURCE. */
  readonly source: string | undefined;
  readonly dnsListen: readonly ListenAddress[];
  readonly log: Log;
}

type NotifyState = Pick<TransferState, 'notifies' | 'notifyQueue'>;

/** The state of one peer. */
interface Peer {
  /** In the newest configuration. */
  settings: NotifiedPeer;
  readonly queue: NotifyQueue;
  timer: NodeJS.Timeout | undefined;
  /** True if the log says that the peer is silent. */
  isSilent: boolean;
}

/** A sent message, with the fields that identify its answer. */
interface Request {
  readonly peer: Peer;
  readonly message: Unanswered;
  readonly key: string;
  readonly id: number;
  readonly zoneId: number;
  readonly serial: number;
  readonly tsigKey: TsigKey | undefined;
  /** The MACs of the last attempts, because a slow peer may answer an earlier one. */
  readonly macs: Uint8Array[];
  /** Why the last answer was not accepted. */
  fault: string | undefined;
}

type Family = 'udp4' | 'udp6';

interface Opened {
  readonly socket: Socket;
  /** Why the socket is closed. Another one is opened at `retryAt`. */
  fault: string | undefined;
  retryAt: number;
}

const OPCODE_BITS = 0x7800;
const ID_TRIES = 16;
const MOST_MACS = 6;
/** Bounds the time of a step if many queued zones no longer have the peer. */
const MOST_STEPS = 500;
const SOCKET_RETRY_MS = 10_000;
/** Label of the metric for the peers of domains, which have no names. */
const DOMAIN_PEERS = '(domains)';

export class NotifySender {
  readonly #options: NotifyOptions;
  readonly #peers = new Map<number, Peer>();
  readonly #requests = new Map<Unanswered, Request>();
  /** The same requests by id and address. */
  readonly #byKey = new Map<string, Request>();
  readonly #sockets = new Map<Family, Opened>();
  readonly #outcomes = { acked: 0, refused: 0, given_up: 0 };
  #isStopped = false;

  constructor(options: NotifyOptions) {
    this.#options = options;
  }

  /** Queues zones that have changed. Zones without peers cost one lookup. */
  changed(zones: readonly ChangedZone[]): void {
    const touched = new Set<Peer>();
    for (const { id, apex } of zones) {
      for (const settings of this.#options.peersOf(id)) {
        const peer = this.#peerOf(settings);
        peer.queue.add(apex);
        touched.add(peer);
      }
    }
    for (const peer of touched) this.#run(peer);
  }

  /** Call it with all peers when the configuration has changed. */
  configured(peers: Iterable<NotifiedPeer>): void {
    const byId = new Map<number, NotifiedPeer>();
    for (const settings of peers) byId.set(settings.id, settings);
    for (const [id, peer] of this.#peers) {
      const settings = byId.get(id);
      if (settings === undefined) this.#remove(peer);
      else peer.settings = settings;
    }
  }

  state(): NotifyState {
    const sizes = new Map<string, number>();
    for (const { settings, queue } of this.#peers.values()) {
      const label = settings.name ?? DOMAIN_PEERS;
      sizes.set(label, (sizes.get(label) ?? 0) + queue.size);
    }
    return {
      notifies: Object.entries(this.#outcomes).map(([outcome, count]) => ({
        direction: 'out',
        outcome,
        count,
      })),
      notifyQueue: [...sizes].map(([peer, count]) => ({ peer, count })),
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const peer of this.#peers.values()) this.#remove(peer);
    for (const { socket, fault } of this.#sockets.values()) if (fault === undefined) socket.close();
    this.#sockets.clear();
  }

  #peerOf(settings: NotifiedPeer): Peer {
    const known = this.#peers.get(settings.id);
    if (known !== undefined) return known;
    const queue = new NotifyQueue(this.#options.rate);
    const peer = { settings, queue, timer: undefined, isSilent: false };
    this.#peers.set(settings.id, peer);
    return peer;
  }

  #remove(peer: Peer): void {
    clearTimeout(peer.timer);
    this.#peers.delete(peer.settings.id);
    for (const request of this.#requests.values()) if (request.peer === peer) this.#forget(request.message);
  }

  /** Does what is due, and starts the timer for the rest. */
  #run(peer: Peer): void {
    clearTimeout(peer.timer);
    if (this.#isStopped) return;
    const { queue } = peer;
    let now = performance.now();
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const step = queue.take(now);
      if (step === undefined) break;
      if (step.kind === 'send') this.#send(peer, step.message, now);
      else this.#giveUp(peer, step.message);
      now = performance.now();
    }
    this.#logSilence(peer);
    const nextAt = queue.nextAt();
    if (nextAt !== undefined) {
      peer.timer = setTimeout(() => this.#run(peer), Math.max(0, nextAt - now)).unref();
    } else if (queue.isIdle) this.#peers.delete(peer.settings.id);
  }

  #logSilence(peer: Peer): void {
    const { queue, settings } = peer;
    if (peer.isSilent === queue.isSilent) return;
    peer.isSilent = queue.isSilent;
    const fields = { peer: settings.name ?? settings.id, addresses: settings.addresses, waiting: queue.size };
    const { log } = this.#options;
    // Customers must not be able to fill the log.
    const level = settings.name === undefined ? 'debug' : peer.isSilent ? 'warn' : 'info';
    if (peer.isSilent) log[level](fields, 'a peer ignores NOTIFY: it gets one message per 30 s');
    else log[level](fields, 'the peer answers NOTIFY again');
  }

  #send(peer: Peer, message: Unanswered, now: number): void {
    const { peersOf, zones, reports } = this.#options;
    const found = zones.find(message.apex);
    const zone = found.kind === 'served' && found.isWhole ? found.zone : undefined;
    const settings = zone && peersOf(zone.id).find(({ id }) => id === peer.settings.id);
    if (zone === undefined || settings === undefined) {
      this.#forget(message);
      peer.queue.drop(message, now);
      return;
    }
    peer.settings = settings;
    const address = settings.addresses[message.address % settings.addresses.length] as string;
    const request = this.#requestOf(peer, message, zone, address);
    const { id, macs, tsigKey } = request;
    let octets = notifyMessage(id, zone);
    if (tsigKey !== undefined) {
      const nowSeconds = Math.floor(Date.now() / 1000);
      const signed = signMessage(octets, tsigKey, { nowSeconds });
      octets = signed.message;
      macs.push(signed.mac);
      if (macs.length > MOST_MACS) macs.shift();
    }
    if (message.attempts === 1) reports.notified(zone.id, settings.id, zone.serial);
    const { socket, fault } = this.#socketFor(address);
    const noteUnsent = (reason: string) => {
      request.fault = `NOTIFY cannot be sent: ${reason}`;
    };
    if (fault !== undefined) noteUnsent(fault);
    else socket.send(octets, settings.port, address, (error) => error && noteUnsent(error.message));
  }

  /** Returns the request for the message. A retry is the same request, unless the serial or the server has changed. */
  #requestOf(peer: Peer, message: Unanswered, zone: ZoneVersion, address: string): Request {
    const { id: zoneId, serial } = zone;
    const { port, key: tsigKey } = peer.settings;
    const before = this.#requests.get(message);
    if (
      before?.serial === serial &&
      before.zoneId === zoneId &&
      before.tsigKey === tsigKey &&
      before.key === answerKey(before.id, address, port)
    )
      return before;
    this.#forget(message);
    let id = randomInt(0x10000);
    for (let tries = 1; tries < ID_TRIES && this.#byKey.has(answerKey(id, address, port)); tries++)
      id = randomInt(0x10000);
    const key = answerKey(id, address, port);
    const request = { peer, message, key, id, zoneId, serial, tsigKey, macs: [], fault: undefined };
    this.#requests.set(message, request);
    this.#byKey.set(key, request);
    return request;
  }

  #forget(message: Unanswered): void {
    const request = this.#requests.get(message);
    if (request === undefined) return;
    this.#requests.delete(message);
    if (this.#byKey.get(request.key) === request) this.#byKey.delete(request.key);
  }

  #giveUp(peer: Peer, message: Unanswered): void {
    const request = this.#requests.get(message);
    this.#forget(message);
    this.#outcomes.given_up++;
    if (request === undefined) return;
    const error = request.fault ?? 'no answer to NOTIFY';
    this.#options.reports.failed(request.zoneId, peer.settings.id, error);
    // One line per zone would fill the log: silence is logged per peer, and the report has the error.
    this.#options.log.debug(
      { zone: printName(message.apex), peer: peer.settings.id, error },
      'NOTIFY failed',
    );
  }

  #receive(octets: Uint8Array, from: RemoteInfo): void {
    if (octets.length < HEADER_OCTETS) return;
    const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
    const flags = view.getUint16(2);
    if ((flags & FLAG.QR) === 0 || (flags & OPCODE_BITS) !== OPCODE.NOTIFY << 11) return;
    const request = this.#byKey.get(answerKey(view.getUint16(0), from.address, from.port));
    if (request === undefined) return;
    const { peer, message, zoneId, serial } = request;
    const rcode = flags & 15;
    const isAcked = rcode === RCODE.NOERROR;
    const fault = isAcked ? faultOf(octets, request) : undefined;
    if (fault !== undefined) {
      request.fault = `the answer to NOTIFY is not authentic: ${fault}`;
      return;
    }
    // Knot and NSD do not sign NOTAUTH: a forged error only prevents a retry.
    this.#outcomes[isAcked ? 'acked' : 'refused']++;
    const error = isAcked ? null : `${rcodeMnemonic(rcode)}${tsigErrorIn(octets)} in answer to NOTIFY`;
    this.#options.reports.acked(zoneId, peer.settings.id, serial, error);
    this.#forget(message);
    peer.queue.answered(message, performance.now());
    this.#run(peer);
  }

  #socketFor(address: string): Opened {
    const family = address.includes(':') ? 'udp6' : 'udp4';
    const before = this.#sockets.get(family);
    if (before !== undefined && (before.fault === undefined || performance.now() < before.retryAt))
      return before;
    const socket = createSocket({ type: family, ipv6Only: family === 'udp6' });
    const opened: Opened = { socket, fault: undefined, retryAt: 0 };
    this.#sockets.set(family, opened);
    const source = sourceOf(family, this.#options);
    socket.on('error', (error) => {
      this.#options.log.warn({ err: error, source }, 'NOTIFY cannot be sent from this address');
      if (opened.fault === undefined) socket.close();
      opened.fault = error.message;
      opened.retryAt = performance.now() + SOCKET_RETRY_MS;
    });
    socket.on('message', (octets, from) => this.#receive(octets, from));
    socket.bind({ port: 0, exclusive: true, ...(source === undefined ? {} : { address: source }) });
    socket.unref();
    return opened;
  }
}

/** Returns the address to send from. Undefined: the system chooses. */
function sourceOf(
  family: Family,
  { source, dnsListen }: Pick<NotifyOptions, 'source' | 'dnsListen'>,
): string | undefined {
  const isOfFamily = (address: string) => address.includes(':') === (family === 'udp6');
  if (source !== undefined && isOfFamily(source)) return source;
  const addresses = dnsListen.map(({ address }) => address).filter(isOfFamily);
  return addresses.find((address) => address !== '0.0.0.0' && address !== '::');
}

function answerKey(id: number, address: string, port: number): string {
  return `${id} ${port} ${address.includes(':') ? canonicalIpv6(address) : address}`;
}

/** Returns the address as sockets report it. */
function canonicalIpv6(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address;
}

/** Returns why the answer does not prove that it is from the peer. */
function faultOf(octets: Uint8Array, { tsigKey, macs }: Request): string | undefined {
  if (tsigKey === undefined) return undefined;
  const nowSeconds = Math.floor(Date.now() / 1000);
  let fault: string | undefined;
  for (const mac of macs) {
    const verified = new TsigStreamVerifier(tsigKey, mac).accept(octets, nowSeconds);
    if (verified.kind === 'ok') return undefined;
    fault = verified.error;
  }
  return fault;
}

/** Returns the TSIG error of an answer as ` (BADKEY)`. Empty if there is none. */
function tsigErrorIn(octets: Uint8Array): string {
  const found = readTsig(octets);
  return found.kind === 'found' && found.tsig.error !== 0 ? ` (${tsigErrorName(found.tsig.error)})` : '';
}

/** Returns the message of RFC 1996 §3.7. The new SOA is a hint for the peer. */
function notifyMessage(id: number, { soa: { owner, ttl, rdata } }: ZoneVersion): Uint8Array {
  const name = encodeName(owner);
  const octets = Buffer.alloc(HEADER_OCTETS + name.length + 4 + 12 + rdata.length);
  octets.writeUInt16BE(id, 0);
  octets.writeUInt16BE((OPCODE.NOTIFY << 11) | FLAG.AA, 2);
  octets.writeUInt16BE(1, 4); // QDCOUNT
  octets.writeUInt16BE(1, 6); // ANCOUNT
  octets.set(name, HEADER_OCTETS);
  let at = octets.writeUInt16BE(TYPE.SOA, HEADER_OCTETS + name.length);
  at = octets.writeUInt16BE(CLASS.IN, at);
  at = octets.writeUInt16BE(0xc000 | HEADER_OCTETS, at); // the name in the question
  at = octets.writeUInt16BE(TYPE.SOA, at);
  at = octets.writeUInt16BE(CLASS.IN, at);
  at = octets.writeUInt32BE(ttl, at);
  at = octets.writeUInt16BE(rdata.length, at);
  octets.set(rdata, at);
  return octets;
}
