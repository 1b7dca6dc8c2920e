// The gateways that are built in: `manual`, which an operator confirms, and `online`, whose notices are signed. One more is one
// more value here.

import { type Gateway, type Gateways, signOrder } from '../../billing/gateway.ts';

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
