// The networks that webhooks may call although they are not public.

import { ServiceKey, type Services } from '../../api/calls/call.ts';
import { type Network, networksOf } from '../../dns/record/network.ts';
import type { ServiceTools } from '../feature.ts';

export const ALLOWED_NETWORKS = new ServiceKey<readonly Network[]>('networks that webhooks may call');

export function openWebhookServices({ settings }: ServiceTools, services: Services): void {
  services.add(ALLOWED_NETWORKS, networksOf(...settings.webhookAllow));
}
