// A trouble in words: what it is, and what to do.

import { words } from '../../../words/words.ts';
import type { Trouble } from './find-troubles.ts';
import { shareText } from './share-text.ts';

const say = words.operator.trouble;

export function titleOf(trouble: Trouble): string {
  switch (trouble.kind) {
    case 'no-node':
      return say.noNode;
    case 'silent':
      return say.silent(trouble.name);
    case 'loading':
      return say.loading(trouble.name);
    case 'held':
      return say.held(trouble.name, trouble.zones);
    case 'held-confirmed':
      return say.heldConfirmed(trouble.name, trouble.zones);
    case 'unserved':
      return say.unserved(trouble.name, trouble.zones);
    case 'behind':
      return say.behind(trouble.name, trouble.seconds);
    case 'image':
      return say.image(trouble.name, shareText(trouble.share));
    case 'breaker':
      return say.breaker(trouble.parent);
    case 'frozen':
      return say.frozen(trouble.parent);
    case 'queue-away':
      return say.queueAway(trouble.name);
    case 'queue-dead':
      return say.queueDead(trouble.name, trouble.jobs);
    case 'queue-stuck':
      return say.queueStuck(trouble.name, trouble.jobs);
    case 'vantage':
      return say.vantage(trouble.name);
  }
}

export function adviceOf(trouble: Trouble): string {
  switch (trouble.kind) {
    case 'no-node':
      return say.noNodeDo;
    case 'silent':
      return say.silentDo(trouble.othersLive);
    case 'loading':
      return say.loadingDo;
    case 'held':
      return say.heldDo;
    case 'held-confirmed':
      return say.heldConfirmedDo;
    case 'unserved':
      return say.unservedDo;
    case 'behind':
      return say.behindDo;
    case 'image':
      return say.imageDo;
    case 'breaker':
      return say.breakerDo(trouble.turned, trouble.checked);
    case 'frozen':
      return say.frozenDo(trouble.by, trouble.reason, trouble.until);
    case 'queue-away':
      return say.queueAwayDo;
    case 'queue-dead':
      return say.queueDeadDo;
    case 'queue-stuck':
      return say.queueStuckDo;
    case 'vantage':
      return say.vantageDo;
  }
}
