import type { ConfigResolver } from '../config/providers/config-resolver.ts';
import { Replays } from '../operate/dead-letters/replays.ts';
import { FleetHistory } from '../operate/fleet/fleet-history.ts';
import { Fleet } from '../operate/fleet/fleet.ts';
import { AutomaticRestarts } from '../operate/restarts/automatic-restarts.ts';
import { CommittedLags } from '../operate/health/committed-lags.ts';
import { ConnectorHealth } from '../operate/health/connector-health.ts';
import { TaskFiguresWatch } from '../operate/health/task-figures.ts';
import type { Herder } from '../herder/herder.ts';
import type { ConnectorHistory } from '../operate/history/connector-history.ts';
import type { MetricsSource } from '../operate/metrics/metrics-source.ts';
import type { OffsetsPreview } from '../herder/offsets-preview.ts';
import type { Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { Mode } from './mode.ts';

/** Parts of a worker that features need in addition to its herder and stores. */
interface Surroundings {
  readonly resolver: ConfigResolver;
  readonly secrets: SecretMask;
  /** The properties of the worker. Some of them, such as `restart.policy`, are defaults for its connectors. */
  readonly workerConfig: Readonly<Record<string, string>>;
  readonly taskStopTimeoutMs: number;
  /** Computes the difference between the offsets that a sink has committed and the ends of its topics. */
  readonly readOffsets: (connector: string) => Promise<OffsetsPreview>;
  readonly logger: Logger;
}

/** The features of a worker beyond Kafka Connect. */
export interface Features {
  /** The health of connectors. */
  readonly health: ConnectorHealth;
  /** Replays of dead-letter records. */
  readonly replays: Replays;
  /** Overview of all connectors, with data of the last hour. */
  readonly fleet: Fleet;
  readonly metricsSource: MetricsSource;
}

/** Creates the features. Those that follow changes of connectors are added as listeners of the herder. */
export function openFeatures(
  herder: Herder,
  { stores, placement }: Pick<Mode, 'stores' | 'placement'>,
  history: ConnectorHistory,
  surroundings: Surroundings,
): Features {
  const { logger, secrets, workerConfig } = surroundings;
  const { directory } = herder;
  const hide = (text: string): string => secrets.hide(text);
  const automaticRestarts = new AutomaticRestarts({
    ...{ ...stores, ...surroundings, placement },
    defaults: workerConfig,
    hide,
    work: {
      restart: (target) => {
        // The restart does not wait until its history entry has been written.
        void history.recorded(
          { ...target, by: null, automatic: true },
          () => Promise.resolve(),
          () => 'restarted',
        );
        return herder.restartFailed(target);
      },
      hold: (target, reason) => {
        herder.hold(target, reason);
      },
    },
  });
  const replays = new Replays({ ...stores, ...surroundings, placement, tasks: herder.tasks, hide });
  const committed = new CommittedLags(directory, placement, surroundings.readOffsets, logger);
  const hours = new FleetHistory();
  const figures = new TaskFiguresWatch(
    () => herder.taskReports(),
    () => herder.taskPlaces(),
    (id) => herder.tasks.seenAt(id),
    (reports) => {
      hours.add(reports, Date.now(), committed.all());
    },
  );
  const { workerId } = herder;
  const health = new ConnectorHealth({
    directory,
    workerId,
    figures,
    committed,
    secrets,
    workerConfig,
    automaticRestarts,
  });
  const fleet = new Fleet(directory, health, hours, stores.statuses);
  herder.listen(history, automaticRestarts, health, replays);
  return {
    health,
    replays,
    fleet,
    metricsSource: metricsSourceOf(herder, { health, automaticRestarts, replays, committed }),
  };
}

function metricsSourceOf(
  herder: Herder,
  {
    health,
    automaticRestarts,
    replays,
    committed,
  }: { health: ConnectorHealth; automaticRestarts: AutomaticRestarts; replays: Replays; committed: CommittedLags },
): MetricsSource {
  const { directory, placement, workerId, startedAtMs } = herder;
  return {
    ...{ directory, placement, workerId, startedAtMs, replays, committedLags: committed },
    taskReports: () => herder.taskReports(),
    verdicts: (reports) => health.ownVerdicts(reports),
    startups: () => herder.startups(),
    restarts: () => automaticRestarts.figures(),
    taskPlaces: () => herder.taskPlaces(),
    cluster: () => herder.cluster(),
  };
}
