import { described, integerBetween, mapOf, objectOf, TEXT } from '../../json/open-api.ts';
import { DEAD_LETTER_SELECTION } from './dead-letter-answers.ts';

const MAX_RATE = 10_000_000;
/** Dead-letter records per second: a tenth of what a sink processes on a small machine. */
export const DEFAULT_RATE = 1000;

const CHOICE = {
  'selection?': DEAD_LETTER_SELECTION,
  'transforms?': described(
    mapOf(TEXT),
    "In place of the connector's chain: `transforms` and its `transforms.…` options, `predicates` likewise",
  ),
};

export const PREVIEW_REPLAY_BODY = objectOf(CHOICE);
export const REPLAY_BODY = objectOf({
  ...CHOICE,
  'rate?': described(integerBetween(1, MAX_RATE), `Records per second at most; ${String(DEFAULT_RATE)} if absent`),
});
