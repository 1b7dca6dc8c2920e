// The settings that the routes need: the secrets that encrypt TSIG keys, and the networks that are allowed although they
// are not public.

import { ServiceKey, type Services } from '../../api/calls/call.ts';
import { type Network, networksOf } from '../../dns/record/network.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import type { ServiceTools } from '../feature.ts';

export const TSIG_SECRETS = new ServiceKey<readonly KeySecret[]>('secrets that seal TSIG keys');
export const PEER_NETWORKS = new ServiceKey<readonly Network[]>('networks of peers that are not public');

export function openTransferServices({ settings }: ServiceTools, services: Services): void {
  services.add(TSIG_SECRETS, settings.tsigSecrets);
  services.add(PEER_NETWORKS, networksOf(...settings.resolverAllow));
}
