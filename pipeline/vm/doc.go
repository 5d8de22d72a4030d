// Package vm runs a command in a small QEMU virtual machine with a pinned kernel and brings its results back.
//
// The host puts one static program, the kernel modules that the links need and the files of a job into an initramfs. In the
// guest that program is PID 1: it loads the modules, runs the job's command and sends everything over one virtio serial port
// as frames. Nothing that the guest sends is trusted: frames, totals and names have limits, and a hang ends the machine.
package vm
