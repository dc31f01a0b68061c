import { hostname } from 'node:os';
import type { StandaloneWorkerConfig } from '../config/worker-config.ts';
import { ConfigError } from '../errors.ts';
import { SoleWorker } from '../herder/group/placement.ts';
import { ConfigStore } from '../herder/stores/config-store.ts';
import { OffsetFile } from '../herder/stores/offset-file.ts';
import { OffsetStore } from '../herder/stores/offset-store.ts';
import { OwnStore } from '../herder/stores/own-store.ts';
import { MemoryLog } from '../herder/stores/record-log.ts';
import { StatusStore } from '../herder/stores/status-store.ts';
import type { Logger } from '../observe/logger.ts';
import type { Mode } from './mode.ts';

/** The mode of a standalone worker. Configurations and statuses are kept in memory, and offsets in a file. */
export function standaloneMode({ standalone }: StandaloneWorkerConfig, workerId: string, logger: Logger): Mode {
  const offsetFile = standalone['offset.storage.file.filename'];
  return {
    stores: {
      configs: new ConfigStore((onRecord) => new MemoryLog(onRecord), logger),
      offsets: new OffsetStore((onRecord) => new OffsetFile(offsetFile, onRecord), logger),
      statuses: new StatusStore((onRecord) => new MemoryLog(onRecord), logger),
      own: new OwnStore((onRecord) => new MemoryLog(onRecord), logger),
    },
    placement: new SoleWorker(),
    leader: {
      publish: (_connector, _configs, write) => write(),
      fence: (_connector, fence) => fence(),
    },
    drains: undefined,
    internalTopics: undefined,
    workers: [hostname(), workerId, offsetFile],
    groupId: undefined,
    offsetsTopic: undefined,
    openOffsetsTopic: () => {
      throw new ConfigError('offsets.storage.topic requires a distributed worker');
    },
    exactlyOnce: () => undefined,
    sessionKeys: undefined,
    signatureAlgorithms: undefined,
    answers: { waitForStart: true, unknownTask: (task) => `Task ${task} not found` },
    herderLogger: 'org.apache.kafka.connect.runtime.standalone.StandaloneHerder',
  };
}
