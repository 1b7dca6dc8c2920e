// The gateways by which accounts pay, and the signatures of their notices.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What is to be paid. */
interface Order {
  readonly reference: string;
  readonly amountRials: number;
  /** Where a browser goes afterwards: our page of the top-up. */
  readonly pageUrl: string;
  readonly at: Date;
}

export interface Gateway {
  /** As in the path of its notices. */
  readonly name: string;
  /** Where it is paid. */
  paymentUrl(order: Order): string;
  /** With which its notices are signed; undefined: it sends none. */
  readonly secret?: string;
}

/** The gateways of this service by their names; the first is taken where a call names none. */
export type Gateways = ReadonlyMap<string, Gateway>;

const NOTICE_MS = 5 * 60_000;
const FORM = /^t=([1-9]\d{0,11}),v1=([0-9a-f]{64})$/;

export interface NoticeProof {
  readonly seconds: number;
  readonly mac: Uint8Array;
}

/** Undefined: the header is missing or has another form, or its time is more than 5 minutes from ours. */
export function readNoticeProof(
  header: string | readonly string[] | undefined,
  nowMs: number,
): NoticeProof | undefined {
  const [, time = '', mac = ''] = FORM.exec(typeof header === 'string' ? header : '') ?? [];
  const seconds = Number(time);
  if (mac === '' || Math.abs(nowMs - seconds * 1000) > NOTICE_MS) return undefined;
  return { seconds, mac: Buffer.from(mac, 'hex') };
}

/** Of gateways that there are not: the work is the same, and the answer is no. */
const NOBODYS_SECRET = randomBytes(32).toString('hex');

/** `gateways`: those that there are. */
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

/** Of an order, by which the gateway sees that it is ours. It begins with another word than a notice, so it is never that of one. */
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

/** Our own page says how to pay. */
const MANUAL: Gateway = { name: 'manual', paymentUrl: ({ pageUrl }) => pageUrl };

/** `url`: its page, which reads the order from the query. */
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

/** `online` is the first where there is one. */
export function openGateways(online?: { readonly url: string; readonly secret: string }): Gateways {
  const gateways = [...(online === undefined ? [] : [onlineGateway(online.url, online.secret)]), MANUAL];
  return new Map(gateways.map((gateway) => [gateway.name, gateway]));
}
