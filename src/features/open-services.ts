// Opens the services of every feature in an API process.

import { Services } from '../api/calls/call.ts';
import { FEATURES } from './every-feature.ts';
import type { ServiceTools } from './feature.ts';

export async function openServices(tools: ServiceTools): Promise<Services> {
  const services = new Services();
  for (const feature of FEATURES) await (await feature.services?.())?.(tools, services);
  return services;
}
