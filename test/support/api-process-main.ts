import { serviceOptions } from '../../plugins/database-http/options.ts';
import { DatabaseHttpService } from '../../plugins/database-http/service.ts';
import { parseOptions, silentLogger } from '../../src/index.ts';
import type { ApiProcessMessage } from './api-process.ts';

const SAMPLE_MS = 5;

const config = JSON.parse(process.argv[2] ?? '') as Record<string, string>;
const service = new DatabaseHttpService(parseOptions(serviceOptions, config), { logger: silentLogger });
await service.start();

let peakBytes = 0;
const sample = (): void => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
};
setInterval(sample, SAMPLE_MS);

const tell = (message: ApiProcessMessage): void => {
  process.send?.(message);
};
process.on('message', () => {
  sample();
  tell({ peakBytes });
  peakBytes = 0;
});
process.on('disconnect', () => process.exit());
tell({ url: service.address ?? '' });
