# bench in bin/ and launch with every driver in libexec/transportbench/, where bench looks for them.
{
  lib,
  buildGoModule,
  fetchurl,
  glibc,
  enet,
  source,
  revision,
}:
let
  pins = builtins.fromJSON (builtins.readFile ../containers/pins.json);
  kcp = fetchurl { inherit (pins.kcp) sha256; url = pins.kcp.archive; };
in
buildGoModule {
  pname = "transportbench";
  version = "0";
  inherit (source) src vendorHash;

  subPackages = [ "pipeline/cmd/bench" ];
  env.CGO_ENABLED = 0;
  ldflags = [
    "-buildid="
    "-X transportbench/pipeline/cli.stamp=${revision}"
  ];
  buildInputs = [
    glibc.static
    enet
  ];
  doCheck = false; # the tests make namespaces, which the build sandbox forbids; .ci/run runs them

  # The drivers are made by bench itself, so that Nix has no second recipe. gcc finds libc.a through LIBRARY_PATH.
  postBuild = ''
    mkdir kcp
    tar -xzf ${kcp} --strip-components=1 -C kcp
    LIBRARY_PATH=${glibc.static}/lib KCP_SRC=$PWD/kcp "$GOPATH/bin/bench" drivers build
  '';
  postInstall = ''
    mkdir -p $out/libexec
    cp -r .build/*-* $out/libexec/transportbench
  '';

  meta = {
    description = "Measure reliable transports against each other, reproducibly";
    license = lib.licenses.mit;
    mainProgram = "bench";
    platforms = lib.platforms.linux;
  };
}
