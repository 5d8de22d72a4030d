# The conformance tests of the link on a pinned kernel that has netem: the same test program as everywhere else.
{
  lib,
  buildGoModule,
  testers,
  linuxPackages,
  source,
}:
let
  linkTest = buildGoModule {
    pname = "transportbench-link-test";
    version = "0";
    inherit (source) src vendorHash;
    env.CGO_ENABLED = 0;
    buildPhase = ''
      mkdir -p $GOPATH/bin
      go test -c -trimpath -o $GOPATH/bin/link.test ./pipeline/link
    '';
    doCheck = false;
    meta.platforms = lib.platforms.linux;
  };
in
testers.runNixOSTest {
  name = "transportbench-netem";
  nodes.machine = {
    boot.kernelPackages = linuxPackages;
    boot.kernelModules = [
      "sch_netem"
      "nf_tables"
      "nft_objref"
      "nft_queue"
      "nft_compat"
      "nfnetlink_queue"
      "xt_NFQUEUE"
    ];
    virtualisation.cores = 2;
    virtualisation.memorySize = 1024;
  };
  # The tests that .ci/run runs in its own virtual machine. What the kernel lacks would be skipped, so a skip is a failure.
  testScript = ''
    machine.wait_for_unit("multi-user.target")
    out = machine.succeed(
        "cd ${source.src}/pipeline/link && ${linkTest}/bin/link.test -test.v"
        " -test.run '^(TestNetem.*|TestImpairments|TestNoPermission|TestProbe)$' 2>&1"
    )
    assert "--- PASS: TestNetem" in out and "--- SKIP" not in out, out
  '';
}
