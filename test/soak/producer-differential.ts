import { ownClients, type OwnClients } from './differential/clients.ts';
import { differential } from './differential/differential.ts';
import { producerRound, type Disturbance } from './differential/producer-round.ts';

const RESTART_EVERY = 40;

/** Kills and restarts the broker some time after the writing has started. */
function restarts({ kafka }: OwnClients): Disturbance {
  return {
    async disturb(_topic, writing, draw): Promise<void> {
      const waitMs = draw.between(0, 200);
      await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, waitMs))]);
      await kafka.kill();
      await kafka.start();
    },
  };
}

/**
 * Java's consumer reads everything that our producers write in every possible way. The records must be the same, in
 * order, and without duplicates. With one seed in 40, the broker is killed and restarted meanwhile.
 */
export const producerDifferential = differential({
  round: (seed, clients: OwnClients) => producerRound(seed, clients, isRestarted(seed) ? restarts(clients) : undefined),
  start: ownClients,
  runsAlone: isRestarted,
});

function isRestarted(seed: number): boolean {
  return seed % RESTART_EVERY === 0;
}
