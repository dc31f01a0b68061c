import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import type { MetricsPage } from '../../observe/metrics/metrics-page.ts';

/** Parts of a task (a table, a missing topic), which Connect does not have. */
export function addParts(page: MetricsPage, { id, type, details }: TaskReport): void {
  const group = `kafka_connect_${type}_task_part`;
  for (const part of details?.parts ?? []) {
    const where = { connector: id.connector, task: String(id.task), part: part.name };
    const status = part.state.toLowerCase();
    page.gauge(`${group}_status`, 'State of a part of the task (a table, a missing topic)', { ...where, status }, 1);
    for (const [name, value] of Object.entries(part.counts)) {
      page.counter(`${group}_${snakeCase(name)}_total`, 'Counted by the task', where, value);
    }
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/\W/g, '_');
}
