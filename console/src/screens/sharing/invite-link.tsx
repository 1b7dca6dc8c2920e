// The link of a new invite, which is shown only once.

import type { Schemas } from '../../api/client.ts';
import { Button, Copyable } from '../../parts/button.tsx';
import { Note } from '../../parts/failure.tsx';
import { words } from '../../words/words.ts';

interface InviteLinkProps {
  readonly invite: Schemas['Invite'];
  readonly onClose: () => void;
}

export function InviteLink({ invite, onClose }: InviteLinkProps) {
  return (
    <Note tone="good">
      <div class="row spread" role="status">
        <strong>{words.sharing.invited(invite.email)}</strong>
        <Button kind="bare" aria-label={words.common.close} onClick={onClose}>
          ✕
        </Button>
      </div>
      {invite.url !== undefined && (
        <>
          <p>{words.sharing.linkText}</p>
          <Copyable text={invite.url} label={words.sharing.link} />
        </>
      )}
    </Note>
  );
}
