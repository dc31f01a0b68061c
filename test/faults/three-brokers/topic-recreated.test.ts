import type { ConnectRest } from '../../support/rest.ts';
import { FaultStage } from '../../support/fault-stage.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { CODECS, type SinkLoad } from '../../support/sink-load.ts';
import { until } from '../../support/until.ts';

const BEFORE = 3_000;
const FEWER = 900;
const MORE = 6_000;

/** How the topic is recreated while the connector is in some state. */
interface Way {
  readonly title: string;
  readonly away: (rest: ConnectRest, name: string) => Promise<unknown>;
  readonly back: (rest: ConnectRest, name: string) => Promise<unknown>;
  readonly partitions: number;
  readonly rows: number;
}

const nothing = () => Promise.resolve();
const resume = (rest: ConnectRest, name: string) =>
  until(async () => (await rest.put(`/connectors/${name}/resume`)).status === 202, `${name} is resumed`);

const WAYS: readonly Way[] = [
  { title: 'while it runs', away: nothing, back: nothing, partitions: 3, rows: FEWER },
  {
    title: 'while it is paused',
    away: async (rest, name) => {
      await rest.put(`/connectors/${name}/pause`);
      await rest.untilState(name, 'PAUSED', 3);
    },
    back: resume,
    partitions: 3,
    rows: MORE,
  },
  {
    title: 'while it is stopped',
    away: async (rest, name) => {
      await rest.put(`/connectors/${name}/stop`);
      await rest.untilState(name, 'STOPPED', 0);
    },
    back: resume,
    partitions: 3,
    rows: MORE,
  },
  { title: 'with fewer partitions', away: nothing, back: nothing, partitions: 1, rows: MORE },
  { title: 'with more records', away: nothing, back: nothing, partitions: 3, rows: MORE },
];

describe('a topic that is deleted and created again', function () {
  const brokers = useBrokers();

  const sinksOf = async (stage: FaultStage, index: number): Promise<readonly SinkLoad[]> => {
    const [codec, other] = [CODECS[index % 4] ?? 'gzip', CODECS[(index + 1) % 4] ?? 'gzip'];
    const sinks = await Promise.all([
      stage.prepare({ codec, delivery: 'exactly-once' }),
      stage.prepare({ codec: other, delivery: 'at-least-once' }),
    ]);
    for (const sink of sinks) {
      await sink.create(stage.workers.rest(0));
      await sink.produce(BEFORE);
      await sink.untilStored();
    }
    return sinks;
  };

  it('is read from its beginning, whatever the sink does meanwhile', async () => {
    await FaultStage.run(brokers(), { workers: 1 }, async (stage) => {
      const rest = stage.workers.rest(0);
      await Promise.all(
        WAYS.map(async ({ away, back, partitions, rows }, index) => {
          for (const sink of await sinksOf(stage, index)) {
            await away(rest, sink.name);
            await sink.recreateTopic(partitions);
            stage.addFault();
            await sink.produce(rows);
            await back(rest, sink.name);
            await sink.untilStored();
          }
        }),
      );
    });
  });

  it('is read from its beginning by workers that were down', async () => {
    await FaultStage.run(brokers(), { workers: 1 }, async (stage) => {
      const sinks = [...(await sinksOf(stage, 0)), ...(await sinksOf(stage, 2))];
      for (const kill of [true, false]) {
        const worker = stage.workers.worker(0);
        await (kill ? worker.kill() : worker.terminate());
        for (const sink of sinks) {
          await sink.recreateTopic();
          await sink.produce(kill ? MORE : FEWER);
        }
        stage.addFault();
        await worker.start();
        for (const sink of sinks) await sink.untilStored();
      }
    });
  });
});
