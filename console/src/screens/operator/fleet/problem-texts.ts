// Texts for problems: title and advice.

import { operator } from '../../../words/operator.ts';
import type { Problem } from './find-problems.ts';
import { shareText } from './share-text.ts';

const say = operator.problem;

export function titleOf(problem: Problem): string {
  switch (problem.kind) {
    case 'no-node':
      return say.noNode;
    case 'silent':
      return say.silent(problem.name);
    case 'loading':
      return say.loading(problem.name);
    case 'held':
      return say.held(problem.name, problem.zones);
    case 'held-confirmed':
      return say.heldConfirmed(problem.name, problem.zones);
    case 'unserved':
      return say.unserved(problem.name, problem.zones);
    case 'behind':
      return say.behind(problem.name, problem.seconds);
    case 'image':
      return say.image(problem.name, shareText(problem.share));
    case 'breaker':
      return say.breaker(problem.parent);
    case 'frozen':
      return say.frozen(problem.parent);
    case 'queue-away':
      return say.queueAway(problem.name);
    case 'queue-dead':
      return say.queueDead(problem.name, problem.jobs);
    case 'queue-stuck':
      return say.queueStuck(problem.name, problem.jobs);
    case 'vantage':
      return say.vantage(problem.name);
  }
}

export function adviceOf(problem: Problem): string {
  switch (problem.kind) {
    case 'no-node':
      return say.noNodeDo;
    case 'silent':
      return say.silentDo(problem.othersLive);
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
      return say.breakerDo(problem.turned, problem.checked);
    case 'frozen':
      return say.frozenDo(problem.by, problem.reason, problem.until);
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
