// Drafts and plans edits in one step; production does it in pieces.

import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { type DraftState, draftEditInPieces } from '../../../src/zone/edit/draft.ts';
import type { Edit } from '../../../src/zone/edit/edit.ts';
import { type EditState, planEditInPieces } from '../../../src/zone/edit/plan-edit.ts';

export function draftEdit(state: DraftState, edit: Edit) {
  return inOneGo(draftEditInPieces(state, edit));
}

export function planEdit(state: EditState, edit: Edit) {
  return inOneGo(planEditInPieces(state, edit));
}
