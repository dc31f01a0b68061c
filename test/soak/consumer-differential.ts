import { ownClients } from './differential/clients.ts';
import { consumerRound } from './differential/consumer-round.ts';
import { differential } from './differential/differential.ts';

/**
 * Java's consumer and ours read topics that Java's producers wrote in every possible way, with random limits and seeks.
 */
export const consumerDifferential = differential({ round: consumerRound, start: ownClients });
