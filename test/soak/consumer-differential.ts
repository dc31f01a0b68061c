import { ownClients } from './differential/clients.ts';
import { consumerRound } from './differential/consumer-round.ts';
import { differential } from './differential/differential.ts';

/** Topics that Java's producers wrote in every way are read by Java's consumer and by ours, with limits and moves of any kind. */
export const consumerDifferential = differential({ round: consumerRound, start: ownClients });
