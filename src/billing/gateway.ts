// Payment gateways, and the signatures of their notices.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A payment order. */
interface Order {
  readonly reference: string;
  readonly amountRials: number;
  /** URL of the top-up's page, to which the gateway sends the browser afterwards. */
  readonly pageUrl: string;
  readonly at: Date;
}

export interface Gateway {
  /** As in the path of its notices. */
  readonly name: string;
  /** Returns the URL for the payment. */
  paymentUrl(order: Order): string;
  /** Key of its notice signatures. Undefined if it sends no notices. */
  readonly secret?: string;
}

/** The configured gateways by name. The first is the default. */
export type Gateways = ReadonlyMap<string, Gateway>;

const NOTICE_MS = 5 * 60_000;
const FORM = /^t=([1-9]\d{0,11}),v1=([0-9a-f]{64})$/;

export interface NoticeProof {
  readonly seconds: number;
  readonly mac: Uint8Array;
}

/** Returns undefined if the header is missing or malformed, or if its time differs from ours by more than 5 minutes. */
export function readNoticeProof(
  header: string | readonly string[] | undefined,
  nowMs: number,
): NoticeProof | undefined {
  const [, time = '', mac = ''] = FORM.exec(typeof header === 'string' ? header : '') ?? [];
  const seconds = Number(time);
  if (mac === '' || Math.abs(nowMs - seconds * 1000) > NOTICE_MS) return undefined;
  return { seconds, mac: Buffer.from(mac, 'hex') };
}

/** Used for unknown gateways, so that a notice takes the same time and is rejected. */
const NOBODYS_SECRET = randomBytes(32).toString('hex');

/** `gateways`: the configured ones. */
export function isNoticeOf(
  name: string,
  gateways: Gateways,
  { seconds, mac }: NoticeProof,
  body: Uint8Array,
): boolean {
  const gateway = gateways.get(name);
  const own = macOf(gateway?.secret ?? NOBODYS_SECRET, `notice.${name}.${seconds}.`, body);
  return timingSafeEqual(own, mac) && gateway?.secret !== undefined;
}

/**
 * Signs an order, so that the gateway can verify it. It starts with a different word than a notice, so the signatures
 * cannot be exchanged.
 */
export function signOrder(
  secret: string,
  { reference, amountRials, pageUrl }: Order,
  seconds: number,
): string {
  const text = ['order', reference, amountRials, pageUrl, seconds].join('.');
  return macOf(secret, text, Buffer.alloc(0)).toString('hex');
}

function macOf(secret: string, head: string, body: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(head).update(body).digest();
}

/** Our own page explains how to pay. */
const MANUAL: Gateway = { name: 'manual', paymentUrl: ({ pageUrl }) => pageUrl };

/** `url`: page that reads the order from the query string. */
function onlineGateway(url: string, secret: string): Gateway {
  return {
    name: 'online',
    secret,
    paymentUrl(order) {
      const seconds = Math.floor(order.at.getTime() / 1000);
      const place = new URL(url);
      place.searchParams.set('reference', order.reference);
      place.searchParams.set('amount_rials', String(order.amountRials));
      place.searchParams.set('return_url', order.pageUrl);
      place.searchParams.set('signature', `t=${seconds},v1=${signOrder(secret, order, seconds)}`);
      return place.href;
    },
  };
}

/** `online` comes first if it is configured. */
export function openGateways(online?: { readonly url: string; readonly secret: string }): Gateways {
  const gateways = [...(online === undefined ? [] : [onlineGateway(online.url, online.secret)]), MANUAL];
  return new Map(gateways.map((gateway) => [gateway.name, gateway]));
}
