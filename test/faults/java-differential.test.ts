import assert from 'node:assert/strict';
import { ownClients, type OwnClients } from '../soak/differential/clients.ts';
import { consumerRound } from '../soak/differential/consumer-round.ts';
import { producerRound } from '../soak/differential/producer-round.ts';

const SEEDS = Array.from({ length: 20 }, (_none, index) => index + 1);

/** The short form of `npm run soak -- consumer-differential` and `producer-differential`. */
describe('compared with Apache Kafka’s own clients', function () {
  let clients: OwnClients | undefined;

  before(async function () {
    const started = await ownClients();
    if (typeof started === 'string') this.skip();
    clients = started;
  });
  after(() => clients?.end());

  async function compared(round: (seed: number, clients: OwnClients) => Promise<number>): Promise<number> {
    let records = 0;
    assert.ok(clients !== undefined);
    for (const seed of SEEDS) records += await round(seed, clients);
    return records;
  }

  it('the consumer reads what Java’s producers wrote, record by record (K1)', async () => {
    assert.ok((await compared(consumerRound)) > 5_000);
  });

  it('the producer writes what Java’s consumer reads, in order and once', async () => {
    assert.ok((await compared(producerRound)) > 5_000);
  });
});
