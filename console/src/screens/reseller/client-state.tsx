// The state of a client as badges.

import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/status.tsx';
import { reseller } from '../../words/reseller.ts';

const text = reseller.clients;

export function ClientState({ client }: { readonly client: Schemas['Client'] }) {
  const { active, password_set: hasPassword } = client;
  return (
    <span class="row">
      <Badge tone={active ? 'good' : 'bad'}>{text.states[active ? 'active' : 'inactive']}</Badge>
      {!hasPassword && <Badge>{text.noPassword}</Badge>}
    </span>
  );
}
