import type { WorkerDetail } from '../common/answers.ts';
import { Table } from '../kit/table.tsx';
import { texts } from '../texts/cluster.ts';
import { connectorAddress } from '../common/addresses.ts';

const MAX_TASKS = 12;

/** The threads of a worker, with their tasks. */
export function Threads({ detail: { worker, threads } }: { readonly detail: WorkerDetail }) {
  return (
    <>
      <h2>{texts.threadsOf(worker)}</h2>
      <Table
        label={texts.threads}
        titles={[texts.thread, texts.purpose, texts.loopDelay, texts.tasks]}
        numbers={[texts.loopDelay]}
      >
        {threads.map(({ thread, purpose, loopDelayMs, taskCount, tasks }) => (
          <tr key={thread}>
            <th scope="row">{thread}</th>
            <td>{purpose}</td>
            <td class="number nowrap">{`${String(loopDelayMs)} ms`}</td>
            <td class="tasks">
              {tasks.slice(0, MAX_TASKS).map((task) => (
                <a key={task} href={connectorAddress(connectorOf(task))}>
                  {task}
                </a>
              ))}
              {taskCount > MAX_TASKS ? <span class="quiet">{texts.moreTasks(taskCount - MAX_TASKS)}</span> : null}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** The connector of a task: `orders` for `orders-12`. */
function connectorOf(task: string): string {
  return task.slice(0, task.lastIndexOf('-'));
}
