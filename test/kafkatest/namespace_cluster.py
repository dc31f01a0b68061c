"""A ducktape cluster on one machine. A node is a set of Linux namespaces: it has its own network address, process ids and
/mnt, so that the fixed ports, paths and `ps | grep` of Kafka's tests do not collide. Nothing outlives the run."""

import os
import subprocess
import sys
from contextlib import contextmanager

from ducktape.cluster.json import JsonCluster
from ducktape.cluster.linux_remoteaccount import LinuxRemoteAccount
from ducktape.cluster.remoteaccount import RemoteCommandError, SSHOutputIter
from ducktape.utils.util import wait_until

NETWORK = "10.77.0."
# Process 1 of a node: the kernel reaps orphans while SIGCHLD is ignored. The node ends when the pipe is closed.
INIT = "import signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); print('ready', flush=True); sys.stdin.read()"


def run(*command):
    subprocess.run(command, check=True)


class NodeFiles:
    """The part of an SFTP client that ducktape uses, for the files of a node as this process sees them."""

    def __init__(self, root):
        self._root = root

    def _path(self, path):
        return self._root + os.path.abspath(path)

    def open(self, path, mode="r"):
        return open(self._path(path), mode)

    def stat(self, path):
        return os.stat(self._path(path))

    def lstat(self, path):
        return os.lstat(self._path(path))

    def listdir(self, path):
        return os.listdir(self._path(path))

    def mkdir(self, path, mode=0o755):
        os.mkdir(self._path(path), mode)

    def put(self, local, path):
        run("cp", local, self._path(path))

    def get(self, path, local):
        run("cp", self._path(path), local)


class NamespaceAccount(LinuxRemoteAccount):
    """Runs commands in the namespaces of a node. `port` of the cluster description holds the id of its process 1."""

    def __init__(self, ssh_config, *args, **kwargs):
        super().__init__(ssh_config, *args, **kwargs)
        self.init_pid = ssh_config.port

    def _start(self, cmd, stderr):
        self.logger.debug("%s: Running command: %s", self, cmd)
        enter = ["nsenter", "--target", str(self.init_pid), "--mount", "--net", "--pid", "--"]
        return subprocess.Popen(
            enter + ["bash", "-c", cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr
        )

    def _check(self, cmd, status, message, allow_fail):
        if status != 0 and not allow_fail:
            raise RemoteCommandError(self, cmd, status, message)
        return status

    def ssh(self, cmd, allow_fail=False):
        process = self._start(cmd, subprocess.PIPE)
        _, stderr = process.communicate()
        return self._check(cmd, process.returncode, stderr, allow_fail)

    def ssh_capture(self, cmd, allow_fail=False, callback=None, combine_stderr=True, timeout_sec=None):
        process = self._start(cmd, subprocess.STDOUT if combine_stderr else subprocess.DEVNULL)

        def lines():
            with process.stdout:
                for line in process.stdout:
                    text = line.decode()
                    yield text if callback is None else callback(text)
            self._check(cmd, process.wait(), "", allow_fail)

        return SSHOutputIter(lines)

    def ssh_output(self, cmd, allow_fail=False, combine_stderr=True, timeout_sec=None):
        process = self._start(cmd, subprocess.STDOUT if combine_stderr else subprocess.DEVNULL)
        stdout, _ = process.communicate(timeout=timeout_sec)
        self._check(cmd, process.returncode, stdout, allow_fail)
        return stdout

    @property
    def sftp_client(self):
        return NodeFiles("/proc/%d/root" % self.init_pid)

    @contextmanager
    def monitor_log(self, log):
        yield LogFile(self, "/proc/%d/root%s" % (self.init_pid, log))


class LogFile:
    """Waits for lines of a log as ducktape's LogMonitor, with one process for each look instead of four."""

    def __init__(self, account, path):
        self.account, self.path = account, path
        self.offset = os.path.getsize(path) if os.path.exists(path) else 0

    def _has(self, pattern):
        if not os.path.exists(self.path):
            return False
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return subprocess.run(["grep", "-q", pattern], stdin=file).returncode == 0

    def wait_until(self, pattern, **kwargs):
        return wait_until(lambda: self._has(pattern), **kwargs)


class NamespaceCluster(JsonCluster):
    """Starts all nodes at once: `KAFKATEST_NODES` of them, their files below `KAFKATEST_FILES`."""

    def __init__(self, *args, **kwargs):
        self._pipes = []
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "nodes", "type", "bridge")
        run("ip", "link", "set", "nodes", "up")
        run("ip", "address", "add", NETWORK + "1/24", "dev", "nodes")
        count, files = int(os.environ["KAFKATEST_NODES"]), os.environ["KAFKATEST_FILES"]
        addresses = {"node%d" % number: NETWORK + str(number + 10) for number in range(1, count + 1)}
        self._write_hosts(files, addresses)
        nodes = [self._start_node(name, address, files) for name, address in addresses.items()]
        super().__init__({"nodes": nodes}, make_remote_account_func=NamespaceAccount)

    def _write_hosts(self, files, addresses):
        hosts = os.path.join(files, "hosts")
        with open(hosts, "w") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines("%s %s\n" % (address, name) for name, address in addresses.items())
        run("mount", "--bind", hosts, "/etc/hosts")

    def _start_node(self, name, address, files):
        own_files = os.path.join(files, name)
        os.mkdir(own_files)
        unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        process = subprocess.Popen(
            unshare + [sys.executable, "-c", INIT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self._pipes.append(process.stdin)
        assert process.stdout.readline() == b"ready\n", "The namespaces of %s were not created" % name
        with open("/proc/%d/task/%d/children" % (process.pid, process.pid)) as children:
            pid = int(children.read())
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        run("ip", "link", "set", name, "master", "nodes", "up")
        inside = ["nsenter", "--target", str(pid), "--mount", "--net", "--"]
        run(*inside, "ip", "link", "set", "lo", "up")
        run(*inside, "ip", "link", "set", "eth0", "up")
        run(*inside, "ip", "address", "add", address + "/24", "dev", "eth0")
        run(*inside, "mount", "--bind", own_files, "/mnt")
        return {"ssh_config": {"host": name, "hostname": address, "port": pid}, "externally_routable_ip": address}
